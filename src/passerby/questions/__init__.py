"""Questions about one person that a release may answer: a file for each."""
