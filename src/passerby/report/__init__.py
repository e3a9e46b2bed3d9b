"""The report of an audit: sections of words, figures and tables, and the pages that hold them."""
