"""Code blocks of the documentation, and the test that runs each of them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^( *)```(\S*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)

HERE = frozenset({"python", "sh", "yaml"})
"""The languages that `test_blocks.py` runs, on every page that `ELSEWHERE` does not name."""
ELSEWHERE: dict[tuple[str, str], str] = {
    ("README.md", "console"): "tests/cli/test_docs.py",
    ("README.md", "python"): "tests/component/test_readme.py",
    ("README.md", "text"): "tests/component/test_readme.py",
    ("docs/_index.md", "go"): "tests/schema/test_registry.py",
    ("docs/_index.md", "typescript"): "tests/schema/test_registry.py",
    ("docs/arguments.md", "text"): "tests/typing/test_typing.py",
    ("docs/ci.md", "sh"): "tests/cluster/test_ci.py",
    ("docs/ci.md", "text"): "tests/cluster/test_ci.py",
    ("docs/ci.md", "yaml"): "tests/cluster/test_ci.py",
    ("docs/commands.md", "console"): "tests/cli/test_docs.py",
    ("docs/commands.md", "mermaid"): "tests/cli/test_docs.py",
    ("docs/convert.md", "python"): "tests/cli/test_convert.py",
    ("docs/convert.md", "yaml"): "tests/cli/test_convert.py",
    ("docs/cost.md", "sh"): "tests/cluster/test_cost.py",
    ("docs/data.md", "python"): "tests/pages/test_running.py",
    ("docs/editors.md", "yaml"): "tests/cli/test_docs.py",
    ("docs/gpus.md", "console"): "tests/cli/test_docs.py",
    ("docs/gpus.md", "python"): "tests/pages/test_running.py",
    ("docs/index.md", "mermaid"): "tests/component/test_index_page.py",
    ("docs/languages.md", "go"): "tests/languages/test_docs.py",
    ("docs/languages.md", "typescript"): "tests/languages/test_docs.py",
    ("docs/languages.md", "yaml"): "tests/languages/test_docs.py",
    ("docs/migrate-kubeflow.md", "python"): "tests/pages/test_migration.py",
    ("docs/migrate-kubeflow.md", "yaml"): "tests/pages/test_migration.py",
    ("docs/migrate-torchx.md", "python"): "tests/pages/test_migration.py",
    ("docs/mpi.md", "python"): "tests/component/test_frameworks.py",
    ("docs/permissions.md", "yaml"): "tests/cluster/test_permissions.py",
    ("docs/policies.md", "json"): "tests/engine/test_policies.py",
    ("docs/policies.md", "python"): "tests/engine/test_policies.py",
    ("docs/policies.md", "text"): "tests/engine/test_policies.py",
    ("docs/presets.md", "python"): "tests/component/test_frameworks.py",
    ("docs/pytorch.md", "python"): "tests/component/test_frameworks.py",
    ("docs/quickstart.md", "console"): "tests/cli/test_docs.py",
    ("docs/ray.md", "python"): "tests/component/test_frameworks.py",
    ("docs/registries.md", "console"): "tests/cli/test_docs.py",
    ("docs/registries.md", "python"): "tests/pages/test_running.py",
    ("docs/registries.md", "yaml"): "tests/pages/test_running.py",
    ("docs/schedulers.md", "python"): "tests/cluster/test_schedulers.py",
    ("docs/secrets.md", "python"): "tests/pages/test_running.py",
    ("docs/secrets.md", "yaml"): "tests/pages/test_running.py",
    ("docs/ssh.md", "python"): "tests/component/test_frameworks.py",
    ("docs/stack.md", "python"): "tests/component/test_stack_docs.py",
    ("docs/stack.md", "yaml"): "tests/component/test_stack_docs.py",
    ("docs/status.md", "console"): "tests/cli/test_docs.py",
    ("docs/svc.md", "python"): "tests/component/test_frameworks.py",
    ("docs/tensorflow.md", "python"): "tests/component/test_frameworks.py",
    ("docs/testing.md", "python"): "tests/component/test_testing_page.py",
    ("docs/troubleshooting.md", "text"): "tests/pages/test_troubleshooting.py",
    ("docs/upgrades.md", "sh"): "tests/cluster/test_upgrades.py",
    ("examples/platform/README.md", "python"): "tests/examples/test_platform.py",
    ("examples/platform/README.md", "sh"): "tests/examples/test_platform.py",
    ("examples/platform/README.md", "text"): "tests/examples/test_platform.py",
}
"""The tests that run the blocks of a page and language."""
_RECORDED = "what programs printed when `make test-workloads` ran them"
NOT_RUN: dict[tuple[str, str], str] = {
    ("docs/data.md", ""): _RECORDED,
    ("docs/editors.md", "json"): "the settings of an editor",
    **dict.fromkeys(((f"docs/{page}.md", "") for page in ("mpi", "ray", "ssh", "svc", "tensorflow")), _RECORDED),
    ("docs/pytorch.md", "text"): _RECORDED,
    ("docs/start.md", "text"): "a requirements.txt with the name of this package",
}
"""Reason not to run the blocks of a page and language."""
NOT_RUN_COMMANDS = {
    ".": "activates a virtual environment that is not there",
    "docker": "needs Docker",
    "echo": "writes into such a folder",
    "git": "needs a repository",
    "helm": "needs a cluster and the network",
    "kind": "needs Docker",
    "kubectl": "needs a cluster",
    "make": "runs the tests, or the commands that they run",
    "minikube": "needs Docker",
    "mkdir": "makes a folder for the next line",
    "npm": "needs the network",
    "pip": "needs the network",
    "pulumi": "needs the engine: tests/engine and tests/cluster run it",
    "ray": "needs a cluster of Ray",
    "ssh-keygen": "needs OpenSSH, and makes the input of the next line alone",
    "torchx": "is not installed here: the page shows its output",
}
"""Reason not to run a line of a shell block with one of these commands."""


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    page: str
    line: int
    language: str
    text: str

    @property
    def key(self) -> tuple[str, str]:
        """Page and language of the block."""
        return self.page, self.language

    def __str__(self) -> str:
        """Return the place of the block."""
        return f"{self.page}:{self.line} {self.language}".strip()


def pages() -> list[Path]:
    """Return the pages for users."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md")), *examples()]


def examples() -> list[Path]:
    """Return the pages of the examples."""
    return sorted(ROOT.glob("examples/*/README.md"))


def blocks() -> list[Block]:
    """Return the blocks of all pages."""
    found = []
    for page in pages():
        text = page.read_text("utf-8")
        for fence in _FENCE.finditer(text):
            line = text.count("\n", 0, fence.start()) + 1
            found.append(Block(str(page.relative_to(ROOT)), line, fence[2], fence[3]))
    return found


def run_here() -> list[Block]:
    """Return the blocks that `test_blocks.py` runs."""
    return [block for block in blocks() if block.language in HERE and not {block.key} & {*ELSEWHERE, *NOT_RUN}]


def commands(line: str) -> list[str]:
    """Return the programs in a line of a shell block."""
    words = shlex.split(line, comments=True)
    starts = [0, *(number + 1 for number, word in enumerate(words) if word in {"|", "&&"})]
    return [words[start] for start in starts if start < len(words)]
