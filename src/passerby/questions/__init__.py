"""Questions about one person for a release to answer: a file for each."""
