"""Write the schema of the component for Pulumi's other languages to schema.json, and compare two schemas.

On the command line::

    python tools/packageschema.py    # writes the provider's schema to schema.json

Reviewers and Pulumi's Registry expect the file next to PulumiPlugin.yaml. The wheel does not contain it, because the
provider generates the schema from its types.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pulumi_volcano_jobs.component.provider import JobProvider

Schema = Mapping[str, Any]
ROOT = Path(__file__).resolve().parents[1]
COMMITTED = ROOT / "schema.json"
_SHAPE = ("type", "$ref", "plain")


def text() -> str:
    """Return the text of schema.json."""
    return json.dumps(json.loads(JobProvider().schema), indent=2, ensure_ascii=False) + "\n"


def breaks(old: Schema, new: Schema) -> Iterator[str]:
    """Yield a message for each change that breaks programs for the old schema."""
    for kind in ("resources", "types"):
        for token, before in old.get(kind, {}).items():
            name = token.rpartition(":")[2]
            after = new.get(kind, {}).get(token)
            if after is None:
                yield f"{name} was removed"
                continue
            yield from _of_inputs(name, before, after, "inputProperties" if kind == "resources" else "properties")
            if kind == "resources":
                yield from _of_properties(f"{name}, output", before, after, "properties")
                kept = set(after.get("required", ()))
                yield from (f"{name}, output {key} may be missing" for key in before["required"] if key not in kept)


def _of_inputs(name: str, before: Schema, after: Schema, part: str) -> Iterator[str]:
    yield from _of_properties(f"{name}, input", before, after, part)
    key = "requiredInputs" if part == "inputProperties" else "required"
    asked = set(before.get(key, ()))
    yield from (f"{name}, input {item} is required" for item in after.get(key, ()) if item not in asked)


def _of_properties(name: str, before: Schema, after: Schema, part: str) -> Iterator[str]:
    for key, value in before.get(part, {}).items():
        found = after.get(part, {}).get(key)
        if found is None:
            yield f"{name} {key} was removed"
        elif _shape(value) != _shape(found):
            yield f"{name} {key} has another type"


def _shape(value: Schema) -> Any:
    inner = [_shape(value[key]) for key in ("items", "additionalProperties") if key in value]
    return [*(value.get(key) for key in _SHAPE), *inner]


if __name__ == "__main__":
    COMMITTED.write_text(text(), "utf-8")
