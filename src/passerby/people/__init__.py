"""People in an audit: their habits, the places of sensors, and the others in the counts."""
