"""The ssh key pair of a job: made once, then kept in the stack's state as a secret."""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi
from pulumi.runtime import mocks, settings

from pulumi_volcano_jobs import keys

PRIVATE, PUBLIC = "private", "public"
STASH = "pulumi:index:Stash"


class KeepsStashes:
    """Marks mocks in which a Stash has an output, as it has on an engine."""


async def _generate(kind: keys.KeyType) -> dict[str, str]:
    # In a thread: a key takes 0.1 to 0.3 s, and several jobs make theirs at the same time.
    pair = await asyncio.get_running_loop().run_in_executor(None, keys.generate, kind)
    return {PRIVATE: pair.private, PUBLIC: pair.public}


def stashed_pair(
    name: str, kind: keys.KeyType, rotation: str, opts: pulumi.ResourceOptions
) -> tuple[pulumi.Output[str], pulumi.Output[str]]:
    """Give the private key (a secret) and the public key (readable) of the job `name`.

    A `Stash` keeps what the first run made; `kind` and `rotation` are part of its name, so that another type or token
    makes a new pair, and nothing else does.
    """
    fresh: pulumi.Output[Any] = pulumi.Output.secret(asyncio.ensure_future(_generate(kind)))
    # The type stands before the part that all have, where no token can look like it.
    stem = f"{name}-ssh-key" if kind == "rsa" else f"{name}-ssh-{kind}-key"
    stash = pulumi.Stash(
        f"{stem}-{rotation}" if rotation else stem,
        input=fresh,
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(ignore_changes=["input"])),
    )
    forgets = is_mocked() and not isinstance(settings.get_monitor(), KeepsStashes)
    kept: pulumi.Output[Any] = fresh if forgets else stash.output.apply(_present)
    private: pulumi.Output[str] = pulumi.Output.secret(kept.apply(lambda pair: pair[PRIVATE]))
    public: pulumi.Output[str] = pulumi.Output.unsecret(kept.apply(lambda pair: pair[PUBLIC]))
    return private, public


def is_mocked() -> bool:
    """Tell whether the program runs under mocks, where hooks need a newer Pulumi."""
    return isinstance(settings.get_monitor(), mocks.MockMonitor)


def _present(pair: Any) -> dict[str, str]:
    if not isinstance(pair, dict) or not {PRIVATE, PUBLIC} <= pair.keys():
        message = "the engine returned no ssh key from the stack's state; it needs the Pulumi CLI 3.208 or newer"
        raise pulumi.RunError(message)
    return pair
