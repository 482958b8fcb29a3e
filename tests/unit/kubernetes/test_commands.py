"""The commands of argument lists and shell scripts."""

from __future__ import annotations

import pytest

from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes import commands
from tests.conftest import container

RUN: dict[str, tuple[list[str], list[str]]] = {
    "an argument list": (["torchrun", "train.py"], ["torchrun train.py"]),
    "a script": (["sh", "-c", "cd /src; torchrun train.py"], ["cd /src", "torchrun train.py"]),
    "a script of a login shell": (["/bin/bash", "-lc", "torchrun a && python b"], ["torchrun a", "python b"]),
    "a script after a named option": (["bash", "-euo", "pipefail", "-c", "torchrun a"], ["torchrun a"]),
    "a file of a shell": (["bash", "train.sh", "-c"], ["bash train.sh -c"]),
    "a script in a script": (["bash", "-c", "exec bash -c 'torchrun \"$1\"'"], ["torchrun $1"]),
    "a wrapper": (["tini", "--", "bash", "-c", "exec env A=1 nohup torchrun a"], ["torchrun a"]),
    "variables before a command": (["sh", "-c", "A=1 B='2 3' torchrun a"], ["torchrun a"]),
    "quotes and escapes": (["sh", "-c", "echo 'a b' \"c \\\"d\\\"\" e\\ f"], ['echo a b c "d" e f']),
    "a line that continues": (["sh", "-c", "torchrun \\\n  --nnodes=2 \\\n  a"], ["torchrun --nnodes=2 a"]),
    "comments": (["sh", "-c", "# don't run torchrun\npython a#b # or this"], ["python a#b"]),
    "redirections": (["sh", "-c", "python a >log 2>&1 &>all | tee b"], ["python a >log 2>&1 &>all", "tee b"]),
    "the text of a file": (["sh", "-c", "cat > a <<'END'\ntorchrun b\nEND\npython a"], ["cat > a", "python a"]),
    "a text as input": (["sh", "-c", "read a <<< b\npython c"], ["read a <<< b", "python c"]),
    "a variable with a command": (["sh", "-c", 'A="b c"; $A d; eval "${A}"'], ["", "b c d", "eval b c"]),
    "a variable with two values": (["sh", "-c", "A=b; A=c; $A"], ["", "", "$A"]),
    "a variable of a condition": (["sh", "-c", "if a; then A=b; fi; $A"], ["a", "", "$A"]),
    "a timeout": (["sh", "-c", "timeout 5 sleep 9"], ["sleep 9"]),
    "an unfinished quote": (["sh", "-c", "echo 'a"], ["echo 'a"]),
    "nothing": (["sh", "-c", " "], []),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "expected"), RUN.values(), ids=RUN)
def test_the_commands_of_a_container_are_found(arguments: list[str], expected: list[str]) -> None:
    """They have no quotes, variables and wrappers."""
    assert [" ".join(command.words) for command in commands.run_by(arguments)] == expected


CERTAIN = {
    "sshd -D": True,
    "mkdir -p /run/sshd && exec sshd -D": True,
    "false || sshd -D": False,
    '[ "$RANK" = 0 ] && sshd -D': False,
    "test -f a && sshd -D": False,
    "if true; then sshd -D; fi": False,
    "if true; then\n  echo a\nfi\nsshd -D": True,
    "for i in a b; do echo $i; done; sshd -D": True,
    "case $ROLE in\n  worker) sshd -D;;\nesac": False,
    "start() { sshd -D; }": False,
}


@pytest.mark.parametrize(("script", "expected"), CERTAIN.items())
def test_a_command_in_a_condition_is_not_certain(script: str, expected: bool) -> None:  # noqa: FBT001
    """Conditions are not evaluated."""
    (found,) = (command for command in commands.run_by(["sh", "-c", script]) if command.program == "sshd")

    assert found.is_certain is expected


def test_a_command_in_the_background_is_known() -> None:
    """The script continues at once."""
    found = [(command.program, command.in_background) for command in commands.run_by(["sh", "-c", "sshd -D & wait"])]

    assert found == [("sshd", True), ("wait", False)]


@pytest.mark.parametrize("fields", [{}, {"command": Leaf("a")}, {"args": ["a", Leaf("b")]}, {"command": []}])
def test_a_command_that_is_not_known_is_none(fields: dict[str, object]) -> None:
    """The image or an Output decides."""
    assert commands.arguments_of(container(**fields)) is None


def test_scripts_in_scripts_end() -> None:
    """The depth is limited."""
    script = "echo"
    for _ in range(9):
        script = f"sh -c '{script}'" if "'" not in script else f'sh -c "{script}"'

    assert len(list(commands.run_by(["sh", "-c", script]))) <= 1
