"""The ssh key pair of a job: generated once, then kept in the state of the stack as a secret."""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi
from pulumi.runtime import mocks, settings

from pulumi_volcano_jobs.plugins import ssh_keys

PRIVATE, PUBLIC = "private", "public"
STASH = "pulumi:index:Stash"


class StashingMocks:
    """Base of mocks in which a Stash has an output, as it has on an engine."""


def _fresh(kind: ssh_keys.KeyType) -> pulumi.Output[Any]:
    """Return a new pair as a secret; in a preview it is unknown, since the update will generate another one."""
    if pulumi.runtime.is_dry_run():
        return pulumi.Output(set(), _resolved(None), _resolved(False), _resolved(True))  # noqa: FBT003
    return pulumi.Output.secret(asyncio.ensure_future(_generate(kind)))


async def _resolved(value: Any) -> Any:
    return value


async def _generate(kind: ssh_keys.KeyType) -> dict[str, str]:
    # In a thread: generation takes 0.1 to 0.3 s, so that several jobs can generate keys at the same time.
    pair = await asyncio.get_running_loop().run_in_executor(None, ssh_keys.generate, kind)
    return {PRIVATE: pair.private, PUBLIC: pair.public}


def stashed_pair(
    name: str, kind: ssh_keys.KeyType, rotation: str, opts: pulumi.ResourceOptions
) -> tuple[pulumi.Resource, pulumi.Output[str], pulumi.Output[str]]:
    """Return the resource that keeps the key pair of a job, the private key (a secret) and the public key (readable).

    A `Stash` keeps the pair of the first update. `kind` and `rotation` are part of its name, so that another type or
    token generates a new pair. Other edits do not change it.
    """
    fresh = _fresh(kind)
    # The type precedes the common part of the name, so that a token cannot look like a type.
    stem = f"{name}-ssh-key" if kind == "rsa" else f"{name}-ssh-{kind}-key"
    stash = pulumi.Stash(
        f"{stem}-{rotation}" if rotation else stem,
        input=fresh,
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(ignore_changes=["input"])),
    )
    has_no_stash = is_mocked() and not isinstance(settings.get_monitor(), StashingMocks)
    stored_pair: pulumi.Output[Any] = fresh if has_no_stash else stash.output.apply(_present)
    private: pulumi.Output[str] = pulumi.Output.secret(stored_pair.apply(lambda pair: pair[PRIVATE]))
    public: pulumi.Output[str] = pulumi.Output.unsecret(stored_pair.apply(lambda pair: pair[PUBLIC]))
    return stash, private, public


def is_mocked() -> bool:
    """Check whether the program runs with mocks, where hooks need a newer Pulumi."""
    return isinstance(settings.get_monitor(), mocks.MockMonitor)


def _present(pair: Any) -> dict[str, str]:
    if not isinstance(pair, dict) or not {PRIVATE, PUBLIC} <= pair.keys():
        message = "the engine returned no ssh key from the stack's state; it needs the Pulumi CLI 3.208 or newer"
        raise pulumi.RunError(message)
    return pair
