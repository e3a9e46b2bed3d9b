"""The known and the published: priors, releases, crowds, and alike places."""
