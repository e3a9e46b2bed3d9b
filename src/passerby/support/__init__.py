"""What every part may use: files written whole, workers, confidence limits, words for numbers."""
