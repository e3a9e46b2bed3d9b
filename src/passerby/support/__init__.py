"""For every part: files written whole, workers, confidence limits, words for numbers."""
