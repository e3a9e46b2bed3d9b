"""The best guess for a series, bracketed: ascent, ceilings, penalties and best-first search."""
