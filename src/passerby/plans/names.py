"""The names of a plan's settings and stages, for the command line, whose help must come at once; and defaults."""

#: The settings of a plan that an audit does not have.
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
#: The paths among them.
PATHS = ("weights",)
#: The typed ones, and the further ones of a decision about the next table.
OPTIONS = (*(name for name in OWN if name != "limits"), "earlier")
#: The default folders of a plan and of a decision about the next table, and the title of a plan's page.
FOLDER, NEXT_FOLDER, TITLE = "passerby-plan", "passerby-next", "What may be published"
#: Settings of an audit that a plan does not have.
LEFT_OUT = ("published", "question", "presence", "explore", "sigmas", "bases", "thresholds", "delta")

#: The number of people for trying plans, among the people affected by them.
DRAWN = 60

#: The default limit on the advantage at each counted place, on average over uncertain people: rounding to tens, or
#: noise of standard deviation 2, keeps most places of a city below it.
PRESENCE = 0.25

#: The stages of a plan.
BASELINE = "Looking at what is known without a release"
WANTED = "Measuring everyone with all that is wanted"
TRYING = "Trying releases on some people"
CONFIRMING = "Measuring everyone with what is recommended"
