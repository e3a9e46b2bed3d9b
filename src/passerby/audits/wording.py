"""How settings are called: options on the command line, keys in a file, arguments in Python."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar


class Wording(ABC):
    """The words of an interface."""

    @abstractmethod
    def name(self, setting: str) -> str:
        """A setting by itself."""

    @abstractmethod
    def given(self, setting: str, value: object) -> str:
        """A setting with a value."""


class Keys(Wording):
    """The words of a settings file.

    >>> Keys().given("sensor_places", "gate")
    "sensor_places = 'gate'"
    """

    def name(self, setting: str) -> str:
        """The key."""
        return setting

    def given(self, setting: str, value: object) -> str:
        """The line."""
        return f"{setting} = {_plain(value)!r}"


class Arguments(Wording):
    """The words of Python.

    >>> Arguments().given("overwrite", True)
    'overwrite=True'
    """

    def name(self, setting: str) -> str:
        """The argument."""
        return setting

    def given(self, setting: str, value: object) -> str:
        """The argument as it is written in a call."""
        return f"{setting}={_plain(value)!r}"


class Options(Wording):
    """The words of the command line.

    >>> Options().given("sensor_places", ["north gate", "b"]), Options().given("overwrite", True)
    ("--sensor-places 'north gate' b", '--overwrite')
    >>> Options().given("since", "2024-05-01")
    '--from 2024-05-01'
    """

    #: Settings whose options are called otherwise; the visits are named without one.
    SPECIAL: ClassVar[Mapping[str, str]] = {"visits": "VISITS", "since": "--from"}

    def name(self, setting: str) -> str:
        """The option."""
        return self.SPECIAL.get(setting, f"--{setting.replace('_', '-')}")

    def given(self, setting: str, value: object) -> str:
        """The option as it is typed."""
        if isinstance(value, bool):
            return self.name(setting) if value else self.name(setting).replace("--", "--no-", 1)
        values = value if isinstance(value, list | tuple) else [value]
        return " ".join([self.name(setting), *(shlex.quote(str(each)) for each in values)])


def instead(wording: Wording) -> str:
    """The advice for a folder with finished results.

    >>> instead(Options())
    'choose another --out, or replace it with --overwrite'
    """
    return f"choose another {wording.name('out')}, or replace it with {wording.given('overwrite', True)}"


@dataclass(frozen=True)
class Source:
    """Values for settings, their source, and its names for settings."""

    values: Mapping[str, Any]
    where: str = "settings"
    wording: Wording = field(default_factory=Keys)


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, Path) else value
