"""Everyone: settings, the audit, its summary, and what would change it."""
