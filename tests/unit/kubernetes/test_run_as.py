"""Which users containers run as."""

from __future__ import annotations

import pytest

from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes import run_as
from tests.conftest import Wire

USERS: dict[str, tuple[Wire, Wire, tuple[int | None, bool | None, str]]] = {
    "nothing is said": ({}, {}, (None, None, "another user")),
    "the Pod says it": ({"runAsUser": 0}, {}, (0, True, "0")),
    "the container says it": ({}, {"runAsUser": 7}, (7, False, "7")),
    "both say it": ({"runAsUser": 0}, {"runAsUser": 7}, (7, False, "7")),
    "the container's is null": ({"runAsUser": 7}, {"runAsUser": None}, (7, False, "7")),
    "not root": ({"runAsNonRoot": True}, {}, (None, False, "another user")),
    "perhaps root": ({"runAsNonRoot": True}, {"runAsNonRoot": False}, (None, None, "another user")),
    "not known yet": ({"runAsUser": Leaf("user")}, {}, (None, None, "another user")),
}


@pytest.mark.parametrize(("pod", "container", "user"), USERS.values(), ids=USERS)
def test_a_container_counts_before_its_pod(
    pod: Wire, container: Wire, user: tuple[int | None, bool | None, str]
) -> None:
    """And what is not said is not known."""
    (found,) = run_as.of_containers({"securityContext": pod}, [{"name": "main", "securityContext": container}])

    assert found.container == "main"
    assert (found.uid, found.is_root, str(found)) == user


@pytest.mark.parametrize(
    ("spec", "group"),
    [({"securityContext": {"fsGroup": 5}}, 5), ({"securityContext": {"fsGroup": Leaf("group")}}, None), ({}, None)],
)
def test_the_group_of_volumes_is_a_number_or_not_known(spec: Wire, group: int | None) -> None:
    """A leaf is not looked at."""
    assert run_as.group(spec) == group
