"""From a number to a decision: releases that keep limits on how exposed people are, and what they cost readers."""
