"""Docstrings of fields, which Python does not keep at run time."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import sys
import textwrap


def docs_of(kind: type) -> dict[str, str]:
    """Return the docstrings of the fields of a class and its bases."""
    docs: dict[str, str] = {}
    # A TypedDict has no bases at run time.
    for base in (
        vars(sys.modules[kind.__module__])[item.id] for item in _tree(kind).bases if isinstance(item, ast.Name)
    ):
        docs |= docs_of(base) if base.__module__.startswith("pulumi_volcano_jobs") else {}
    return docs | own_docs_of(kind)


def own_docs_of(kind: type) -> dict[str, str]:
    """Return the docstrings of the fields that a class declares, without inherited fields."""
    body = _tree(kind).body
    return {
        field.target.id: " ".join(str(doc.value.value).split())
        for field, doc in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant)
    }


@functools.cache
def _tree(kind: type) -> ast.ClassDef:
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    if not isinstance(tree, ast.ClassDef):
        raise TypeError(kind)
    return tree
