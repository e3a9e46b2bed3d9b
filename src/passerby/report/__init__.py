"""The report of an audit: sections of words, figures and tables, and the pages around them."""
