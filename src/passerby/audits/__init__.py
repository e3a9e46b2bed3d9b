"""Everyone: settings, the audit, its summary, and its sensitivity to changes."""
