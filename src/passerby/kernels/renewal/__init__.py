"""All series of raw counts at once, by renewal at sightings."""
