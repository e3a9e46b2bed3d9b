"""The names of a plan's settings and stages, for the command line, whose help must come at once; and defaults."""

#: The settings of a plan that an audit has not.
OWN = (
    "at_most",
    "above",
    "added",
    "ask",
    "against",
    "measure",
    "presence_at_most",
    "presence_against",
    "limits",
    "levers",
    "forbid",
    "fix",
    "stay",
    "weights",
    "drawn",
    "minutes",
)
#: Those of them that are paths.
PATHS = ("weights",)
#: Those that are typed, and what a decision about the next table has beside them.
OPTIONS = (*(name for name in OWN if name != "limits"), "earlier")
#: The folders of a plan and of a decision about the next table that nobody named, and the title of a plan's page.
FOLDER, NEXT_FOLDER, TITLE = "passerby-plan", "passerby-next", "What may be published"
#: Settings of an audit that a plan has not.
LEFT_OUT = ("published", "question", "presence", "explore", "sigmas", "bases", "thresholds", "delta")

#: People that plans are tried on, of those for whom they decide anything.
DRAWN = 60

#: The advantage that is kept at each counted place where nobody says another, on average over who may well be there:
#: rounding to tens, or noise of standard deviation 2, keeps most places of a city below it.
PRESENCE = 0.25

#: The stages of a plan.
BASELINE = "Looking at what is known without a release"
WANTED = "Measuring everyone with all that is wanted"
TRYING = "Trying releases on some people"
CONFIRMING = "Measuring everyone with what is recommended"
