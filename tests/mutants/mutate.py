"""Programs that differ from ours in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip
JOINED = {ast.And: ast.Or, ast.Or: ast.And}


@dataclass(frozen=True)
class Mutant:
    """One changed place of a file."""

    path: Path
    line: int
    change: str
    source: str


def mutants(path: Path) -> Iterator[Mutant]:
    """Return the programs that differ from a file in one operator, comparison or number."""
    text = path.read_text(encoding="utf-8")
    count = sum(1 for _ in _places(ast.parse(text)))
    for number in range(count):
        tree = ast.parse(text)
        place = next(p for i, p in enumerate(_places(tree)) if i == number)
        before = ast.unparse(place)
        after = ast.unparse(_changed(place))
        if before == after:
            continue
        source = ast.unparse(tree)
        yield Mutant(path, place.lineno, f"`{before}` becomes `{after}`"[:160], source)


def _places(tree: ast.Module) -> Iterator[ast.expr]:
    """Return what can be changed: not in annotations, defaults of types, or texts of errors."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.AnnAssign | ast.arg):
            value = getattr(node, "value", None)
            waiting += [value] if value is not None else []
            continue
        if isinstance(node, ast.Raise | ast.JoinedStr):
            continue
        if isinstance(node, ast.FunctionDef):
            waiting += [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults]
            waiting += node.body
            continue
        if _can_change(node):
            yield node
        waiting += list(ast.iter_child_nodes(node)) if node is not None else []


def _can_change(node: ast.AST | None) -> bool:
    match node:
        case ast.Compare(ops=[op]):
            return type(op) in COMPARED
        case ast.BinOp(op=op):
            return type(op) in COMPUTED and not _of_texts(node)
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            return True
        case ast.Constant(value=bool() | int() | float()):
            return True
    return False


def _of_texts(node: ast.BinOp) -> bool:
    """Tell types (`int | None`) and texts, where another operator means nothing."""
    sides = (node.left, node.right)
    if isinstance(node.op, ast.BitOr):
        return any(isinstance(side, ast.Constant) or _named_type(side) for side in sides)
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in sides
    )


def _named_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and (node.id[:1].isupper() or node.id in ("int", "float"))


def _changed(node: ast.expr) -> ast.expr:
    """Change a node where it stands and return it."""
    match node:
        case ast.Compare(ops=[op]):
            node.ops = [COMPARED[type(op)]()]
        case ast.BinOp(op=op):
            node.op = COMPUTED[type(op)]()
        case ast.BoolOp(op=op):
            node.op = JOINED[type(op)]()
        case ast.UnaryOp(op=ast.Not()):
            node.op = ast.Not()
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
        case ast.UnaryOp():
            node.op = ast.UAdd()
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=value):
            node.value = value + 1
    return node
