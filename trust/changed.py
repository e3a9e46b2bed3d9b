"""The mutants of a module, and how one is put into a running process.

Without compilation every kernel is a plain function, so a mutant takes effect everywhere once the function's code is
replaced: nothing is imported anew.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from trust.operators import OPERATORS, SKIPPED


@dataclass(frozen=True)
class Slot:
    """Where a node hangs in its tree, and the function it stands in (None among the constants of a module)."""

    parent: ast.AST
    name: str
    place: int | None
    within: ast.FunctionDef | None
    function: str

    def put(self, node: Any) -> None:
        """Hang another node there."""
        if self.place is None:
            setattr(self.parent, self.name, node)
        else:
            getattr(self.parent, self.name)[self.place] = node


@dataclass(frozen=True)
class Mutant:
    """One change, in a function (or among the constants of the module, with an empty name), at a line of its text."""

    file: str
    function: str
    line: int
    text: str
    operator: str
    before: str
    after: str
    copy: int
    tree: ast.Module = field(repr=False, compare=False)
    slot: Slot = field(repr=False, compare=False)
    old: ast.AST = field(repr=False, compare=False)
    new: ast.AST = field(repr=False, compare=False)

    @property
    def change(self) -> str:
        """What becomes of what."""
        return f"{self.before} -> {self.after}" + (f" #{self.copy + 1}" if self.copy else "")

    @property
    def name(self) -> str:
        """What tells it apart, whatever happens to the lines above it."""
        return f"{self.file} {self.function or '<constants>'} | {self.text} | {self.change}"

    def compiled(self) -> CodeType:
        """The whole module with the change."""
        self.slot.put(self.new)
        try:
            return compile(ast.fix_missing_locations(self.tree), self.file, "exec", dont_inherit=True)
        finally:
            self.slot.put(self.old)

    def apply(self, module: ModuleType) -> None:
        """Change the module that is loaded, and whatever else has its functions and constants by name."""
        code = self.compiled()
        if self.function:
            target: Any = module
            for part in self.function.split("."):
                target = vars(target)[part]
            inspect.unwrap(target).__code__ = _code_of(code, self.function)
            if hasattr(target, "cache_clear"):  # it remembers what the original said
                target.cache_clear()
            return
        fresh: dict[str, Any] = {**vars(module)}
        exec(code, fresh)
        for name in _assigned(self.tree, self.line):
            was = vars(module)[name]
            for other in list(sys.modules.values()):
                if getattr(other, "__name__", "").startswith("passerby") and vars(other).get(name) is was:
                    setattr(other, name, fresh[name])


def mutants(root: Path, file: str) -> list[Mutant]:
    """All mutants of a source file."""
    source = (root / file).read_text(encoding="utf-8")
    lines, tree = source.splitlines(), ast.parse(source)
    seen: Counter[tuple[str, ...]] = Counter()
    out = []
    for slot, node in _nodes(tree):
        for operator in OPERATORS:
            for new in operator(node):
                if _stillborn(node, new, slot.within) or _same(slot, new):
                    continue
                line = getattr(node, "lineno", 0)
                text, before, after = lines[line - 1].strip(), _shown(node), _shown(new)
                copy = seen[slot.function, text, before, after]
                seen[slot.function, text, before, after] += 1
                name = operator.__name__
                out.append(Mutant(file, slot.function, line, text, name, before, after, copy, tree, slot, node, new))
    return out


def _nodes(
    parent: ast.AST, within: ast.FunctionDef | None = None, function: str = ""
) -> Iterator[tuple[Slot, ast.AST]]:
    """Every node that may change, with its slot. What stands in a function inside a function is part of the outer."""
    for name, value in ast.iter_fields(parent):
        if name in SKIPPED:
            continue
        for place, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST):
                continue
            inside, called = within, function
            if within is None and isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                inside = node if isinstance(node, ast.FunctionDef) else None
                called = f"{function}.{node.name}" if function else node.name
            if inside or not called:  # what stands in a class but in no method are the defaults of a record
                yield Slot(parent, name, place, inside, called), node
            yield from _nodes(node, inside, called)


def _stillborn(node: ast.AST, new: ast.AST, within: ast.FunctionDef | None) -> bool:
    """Whether a change would stop any caller at once: a name that is never given a value, a function without result."""
    if not isinstance(new, ast.Pass) or within is None:
        return isinstance(new, ast.Pass)
    if isinstance(node, ast.Return):
        return node is within.body[-1]
    if not isinstance(node, ast.Assign):
        return False
    given = Counter(_stored(within))
    given.update(argument.arg for argument in within.args.args + within.args.kwonlyargs)
    return any(given[name] == 1 for target in node.targets for name in _stored(target))


def _same(slot: Slot, new: ast.AST) -> bool:
    """Whether a change is none: index -1 for index 0 where there is but one.

    `shape[0]` is asked of vectors and square matrices, and a homogeneous chain has one matrix.
    """
    if not isinstance(new, ast.Constant) or new.value != -1:
        return False
    parent = slot.parent
    if isinstance(parent, ast.IfExp):
        return ast.unparse(parent.test).endswith("homogeneous")
    return isinstance(parent, ast.Subscript) and ast.unparse(parent.value).endswith(".shape")


def _stored(node: ast.AST) -> list[str]:
    """The names that are given a value somewhere in a node."""
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]


def _shown(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0]


def _code_of(code: CodeType, name: str) -> CodeType:
    """The code of a function, from the code of its module."""
    for part in code.co_consts:
        if isinstance(part, CodeType):
            if part.co_qualname == name:
                return part
            if name.startswith(part.co_qualname + "."):
                return _code_of(part, name)
    raise LookupError(f"no function {name}")


def _assigned(tree: ast.Module, line: int) -> list[str]:
    """The names that the statement at a line of the module gives values to."""
    for node in tree.body:
        if node.lineno <= line <= (node.end_lineno or 0):
            return _stored(node)
    return []
