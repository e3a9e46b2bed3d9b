"""The small wrong changes that are made to a source file, one at a time.

Each operator looks at a node of the syntax tree and offers what could stand there instead. Left alone are texts, type
annotations, decorators, default values and what an error says: their change is no change of a number.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

Changes = Iterator[ast.AST]

#: Fields of the tree that are not looked into.
SKIPPED = {"annotation", "returns", "decorator_list", "defaults", "kw_defaults", "exc"}

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
FUNCTIONS = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmax": "argmin",
    "argmin": "argmax",
    "any": "all",
    "all": "any",
    "zeros": "ones",
    "ones": "zeros",
}


def comparison(node: ast.AST) -> Changes:
    """`<` becomes `<=` and `>=`, and so on."""
    if isinstance(node, ast.Compare):
        for i, old in enumerate(node.ops):
            for new in COMPARISONS.get(type(old), ()):
                yield ast.Compare(node.left, [*node.ops[:i], new(), *node.ops[i + 1 :]], node.comparators)


def arithmetic(node: ast.AST) -> Changes:
    """`+` becomes `-`, `*` becomes `/`, and back; the same for `+=` and its like."""
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
    if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value)


def constant(node: ast.AST) -> Changes:
    """A number becomes one more and one less (or ten times more and less, if it is far from one); a flag turns over."""
    if not isinstance(node, ast.Constant) or isinstance(node.value, (str, bytes, complex)) or node.value is None:
        return
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, (int, float)):
        near = isinstance(value, int) or value == 0 or 1e-3 < abs(value) < 1e3
        for other in (value + 1, value - 1) if near else (value * 10, value / 10):
            yield ast.Constant(other)


def negation(node: ast.AST) -> Changes:
    """A condition becomes its opposite (a single comparison has that from its own operator), `not` and `-` go."""
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        if not isinstance(node.test, (ast.Compare, ast.Constant, ast.UnaryOp)):
            fields = {name: value for name, value in ast.iter_fields(node) if name != "test"}
            yield type(node)(test=ast.UnaryOp(ast.Not(), node.test), **fields)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub, ast.Invert)):
        yield node.operand


def logic(node: ast.AST) -> Changes:
    """`and` becomes `or` and back, and each operand is left out in turn."""
    if isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        for i in range(len(node.values)):
            rest = [*node.values[:i], *node.values[i + 1 :]]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def function(node: ast.AST) -> Changes:
    """`min` becomes `max` and the like; the smaller or larger of several becomes each of them in turn."""
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        yield ast.Call(ast.Name(FUNCTIONS[node.func.id], ast.Load()), node.args, node.keywords)
        if node.func.id in ("min", "max") and len(node.args) > 1:
            yield from node.args
    elif isinstance(node.func, ast.Attribute) and node.func.attr in FUNCTIONS:
        other = ast.Attribute(node.func.value, FUNCTIONS[node.func.attr], ast.Load())
        yield ast.Call(other, node.args, node.keywords)


def index(node: ast.AST) -> Changes:
    """`a[t]` becomes `a[t - 1]`, for every index that is a plain name."""
    if isinstance(node, ast.Subscript):
        many = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for i, one in enumerate(many):
            if isinstance(one, ast.Name):
                lower = [*many[:i], ast.BinOp(one, ast.Sub(), ast.Constant(1)), *many[i + 1 :]]
                within = ast.Tuple(lower, ast.Load()) if isinstance(node.slice, ast.Tuple) else lower[0]
                yield ast.Subscript(node.value, within, node.ctx)


def bounds(node: ast.AST) -> Changes:
    """A `range` begins one later and ends one earlier."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        start, *rest = node.args if len(node.args) > 1 else [ast.Constant(0), *node.args]
        sign = -1 if len(rest) > 1 else 1  # the ranges with a third argument count down
        one = ast.Constant(sign)
        yield ast.Call(node.func, [ast.BinOp(start, ast.Add(), one), *rest], [])
        yield ast.Call(node.func, [start, ast.BinOp(rest[0], ast.Sub(), one), *rest[1:]], [])


def statement(node: ast.AST) -> Changes:
    """A statement is left out: an assignment, a call, `return`, `raise`, `break`, `continue`."""
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Return, ast.Raise, ast.Break, ast.Continue)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield ast.Pass()


OPERATORS: tuple[Callable[[ast.AST], Changes], ...] = (
    comparison,
    arithmetic,
    constant,
    negation,
    logic,
    function,
    index,
    bounds,
    statement,
)
