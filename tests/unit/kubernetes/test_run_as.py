"""The users that containers run as."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.kubernetes import run_as
from tests.conftest import Wire

USERS: dict[str, tuple[Wire, Wire, tuple[int | None, bool | None]]] = {
    "no user": ({}, {}, (None, None)),
    "user of the Pod": ({"runAsUser": 0}, {}, (0, True)),
    "user of the container": ({}, {"runAsUser": 7}, (7, False)),
    "users of both": ({"runAsUser": 0}, {"runAsUser": 7}, (7, False)),
    "the container's is null": ({"runAsUser": 7}, {"runAsUser": None}, (7, False)),
    "not root": ({"runAsNonRoot": True}, {}, (None, False)),
    "perhaps root": ({"runAsNonRoot": True}, {"runAsNonRoot": False}, (None, None)),
    "not known yet": ({"runAsUser": Leaf("user")}, {}, (None, None)),
}


UNKNOWN = next(iter(run_as.container_users({}, [{"name": "main"}])))


def test_a_user_that_is_not_known_has_a_name_in_messages(snapshot: SnapshotAssertion) -> None:
    """The image decides which user it is."""
    assert str(UNKNOWN) == snapshot


@pytest.mark.parametrize(("pod", "container", "user"), USERS.values(), ids=USERS)
def test_a_container_takes_precedence_over_its_pod(
    pod: Wire, container: Wire, user: tuple[int | None, bool | None]
) -> None:
    """If both set no user, the user is unknown."""
    (found,) = run_as.container_users({"securityContext": pod}, [{"name": "main", "securityContext": container}])

    assert found.container == "main"
    assert (found.uid, found.is_root) == user
    assert str(found) == (str(found.uid) if found.uid is not None else str(UNKNOWN))


@pytest.mark.parametrize(
    ("spec", "group"),
    [({"securityContext": {"fsGroup": 5}}, 5), ({"securityContext": {"fsGroup": Leaf("group")}}, None), ({}, None)],
)
def test_the_group_of_volumes_is_a_number_or_unknown(spec: Wire, group: int | None) -> None:
    """The value of a leaf is not read."""
    assert run_as.fs_group(spec) == group
