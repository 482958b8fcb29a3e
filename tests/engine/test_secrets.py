"""docs/secrets.md lists where each value is stored: a real state, plan and output are searched."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from pulumi import automation

from pulumi_volcano_jobs.plugins import ssh_keys
from tests.engine.conftest import Project

pytestmark = pytest.mark.engine
# Each value has another place in the program.
CONFIGURED, LITERAL, DIRECT, PLAIN = (f"{name}-hunter2" for name in ("configured", "literal", "direct", "plain"))
PROGRAM = f"""
from pulumi_kubernetes.core.v1 import Secret

from pulumi_volcano_jobs import SshPlugin

key = config.require_secret("key")
configured = Secret("wandb", metadata={{"name": "wandb"}}, string_data={{"key": key}}, opts=opts)
literal = Secret("other", metadata={{"name": "other"}}, string_data={{"key": "{LITERAL}"}}, opts=opts)
variables = [
    {{"name": "WANDB_API_KEY", "valueFrom": {{"secretKeyRef": {{"name": configured.metadata["name"], "key": "key"}}}}}},
    {{"name": "OTHER", "valueFrom": {{"secretKeyRef": {{"name": literal.metadata["name"], "key": "key"}}}}}},
    {{"name": "DIRECT", "value": config.require_secret("direct")}},
    {{"name": "PLAIN", "value": "{PLAIN}"}},
]
spec = {{
    "restartPolicy": "OnFailure",
    "containers": [{{"name": "main", "image": config.get("image") or "busybox:1", "env": variables}}],
}}
tasks = [{{"name": "worker", "replicas": 2, "template": {{"spec": spec}}}}]
private, public = ((HERE / name).read_text("utf-8") for name in ("key", "key.pub"))
keys = SshPlugin(ssh_private_key=private, ssh_public_key=public)
VolcanoJob("generated", plugins=[SshPlugin()], tasks=tasks, opts=opts)
VolcanoJob("given", plugins=[keys], tasks=tasks, opts=opts)
VolcanoJob("native", plugins=[keys], tasks=tasks, managed_by="volcano", opts=opts)
"""


@dataclass
class Traces:
    """Texts of a stack's life, and its files in the cluster's place."""

    private: str
    state: dict[str, str]
    plan: str
    output: str
    rendered: dict[str, str]


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Traces:
    """Save a plan, create the stack, preview an edit with its diff, and update it."""
    folder = tmp_path_factory.mktemp("secrets")
    project, plan = Project(folder / "project", PROGRAM), folder / "plan.json"
    pair = ssh_keys.generate()
    project.write("key", pair.private)
    project.write("key.pub", pair.public)
    for name, value in (("key", CONFIGURED), ("direct", DIRECT)):
        project.stack.set_config(name, automation.ConfigValue(value, secret=True))
    runs = [project.preview(plan=str(plan)), project.up()]
    project.configure(image="busybox:2")
    runs += [project.preview(diff=True), project.up()]
    state = {str(path): path.read_text("utf-8", "replace") for path in project.state.rglob("*") if path.is_file()}
    rendered = {path.name: path.read_text("utf-8") for path in project.files()}
    return Traces(pair.private, state, plan.read_text("utf-8"), "".join(run.text for run in runs), rendered)


def spellings(value: str) -> Iterator[str]:
    """Return the encodings of a value."""
    yield value
    yield json.dumps(value)[1:-1]
    yield base64.b64encode(value.encode()).decode()


def shows(text: str, value: str) -> bool:
    """Return whether a text contains a value in an encoding."""
    return any(spelling in text for spelling in spellings(value))


@pytest.mark.parametrize("value", [CONFIGURED, LITERAL, DIRECT])
def test_secrets_are_encrypted_in_state_plan_and_output(traces: Traces, value: str) -> None:
    """A Secret whose program contains the value is included."""
    assert not shows(traces.plan, value)
    assert not shows(traces.output, value)
    assert [path for path, text in traces.state.items() if shows(text, value)] == []


def test_private_keys_are_encrypted_in_state_plan_and_output(traces: Traces) -> None:
    """Also a key that the program contains in plain text, in both modes, and the generated key."""
    line = traces.private.splitlines()[3]
    for text in (traces.plan, traces.output, *traces.state.values()):
        assert line not in text
        assert "PRIVATE KEY" not in text


def test_plain_text_is_stored_and_printed_in_plain_text(traces: Traces) -> None:
    """The search would find the other values."""
    states = [text for path, text in traces.state.items() if path.endswith("dev.json")]

    assert shows(traces.plan, PLAIN)
    assert shows(traces.output, PLAIN)
    assert states
    assert all(shows(text, PLAIN) for text in states)


def test_pods_contain_secret_outputs_in_plain_text_and_references_as_names(traces: Traces) -> None:
    """A rendered file is what the API server stores."""
    pod = next(text for name, text in traces.rendered.items() if "pod-default-given-worker-0" in name)

    assert DIRECT in pod
    assert not shows(pod, CONFIGURED)
    assert not shows(pod, LITERAL)


def test_only_a_native_job_contains_a_key_that_the_program_sets(traces: Traces) -> None:
    """The composed job has it in its Secret."""
    holders = [name for name, text in traces.rendered.items() if "PRIVATE KEY" in text]

    assert [name for name in holders if "job-default-native" in name] == holders
    assert len(holders) == 1
    assert any(shows(text, traces.private) for name, text in traces.rendered.items() if "given-ssh" in name)


def test_the_provider_warns_of_plain_text_in_files(traces: Traces) -> None:
    """The page quotes the warning."""
    assert "rendered YAML will contain a secret value in plaintext" in traces.output
