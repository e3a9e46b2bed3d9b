"""From a number to a decision: releases within limits on people's exposure, and their cost for readers."""
