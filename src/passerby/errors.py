"""What can go wrong, as seen by a user.

Every error that passerby raises on purpose derives from `PasserbyError`, and its message says what is wrong,
where, with which value, and what to do.
"""


class PasserbyError(Exception):
    """The root of all errors that passerby raises on purpose."""


class InputError(PasserbyError, ValueError):
    """A value, table or file that was handed in cannot be used as it is."""


class ConfigError(PasserbyError):
    """Settings that contradict each other or cannot be read."""


class SettingsError(ConfigError):
    """Wrong settings, each in the words in which it was given: an option, a line of a file or an argument."""


class UnsupportedRelease(PasserbyError):  # noqa: N818
    """A formula was asked for a release that it does not hold for. Numbers are refused rather than guessed."""


class Contradiction(PasserbyError):  # noqa: N818
    """A certain floor is above a certain ceiling: one of the two is wrong, and no number is given."""
