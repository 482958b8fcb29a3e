"""The demo: render the PyTorch job of Volcano's guide, then create it with the real Pulumi engine."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parent))

import pins  # a sibling
import plugins  # a sibling
import stack as stacks  # a sibling

ROOT = Path(__file__).parents[1]
JOB = ROOT / "examples" / "pytorch" / "job.yaml"


def main() -> int:
    """Render the job, run `pulumi up`, and print the objects that were created."""
    print(f"1. The objects of {JOB.relative_to(ROOT)} (volcano-jobs render, which needs no engine):\n", flush=True)
    command = [str(Path(sys.executable).parent / "volcano-jobs"), "render", str(JOB)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    show(list(yaml.safe_load_all(text)))

    print("\n2. The same job with `pulumi up` on the real engine:\n", flush=True)
    plugins.put_provider_on_path(stacks.say)
    stacks.put_engine_on_path()
    started = time.monotonic()
    stack = stacks.open_stack(ROOT, ROOT / ".demo", "demo")
    result = stack.up(on_output=print, color="never")
    print(
        "(Warnings about the version of the provider are expected if it was built from the Go module of January 2026."
    )
    print("The other two warnings are about the job of the guide: see docs/warnings.md and docs/modes.md.)")
    print(f"pulumi up took {time.monotonic() - started:.0f} s; outputs:")
    for name, output in result.outputs.items():
        print(f"  {name}: {output.value}")

    folder = ROOT / "examples" / "pytorch" / "rendered"
    print(f"\n3. The manifests that the provider wrote to {folder.relative_to(ROOT)}:\n")
    show([yaml.safe_load(path.read_text("utf-8")) for path in sorted(folder.rglob("*.yaml"))])
    print("\nTo use a cluster: pulumi config set cluster true && pulumi up (see README.md)")
    return 0


def show(manifests: list[dict[str, object]]) -> None:
    """Print the number of objects of each kind, and the variables of each Pod."""
    kinds = Counter(str(manifest["kind"]) for manifest in manifests)
    print("   " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    for manifest in manifests:
        if manifest["kind"] == "Pod":
            print(f"   Pod {pod_line(manifest)}")


def pod_line(pod: dict[str, object]) -> str:
    """Return the name of a Pod and its variables that have a plain value."""
    metadata, spec = pod["metadata"], pod["spec"]
    if not isinstance(metadata, dict) or not isinstance(spec, dict):
        return ""
    variables = [f"{item['name']}={item['value']}" for item in spec["containers"][0].get("env", []) if "value" in item]
    waits = " waits for the master" if spec.get("initContainers") else ""
    return f"{metadata['name']}: {' '.join(variables)}{waits}"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except pins.BuildError as error:
        sys.exit(f"tools/demo.py: {error}")
