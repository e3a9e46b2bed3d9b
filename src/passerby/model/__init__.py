"""What is known and what is published: priors, releases, crowds, and places that are alike."""
