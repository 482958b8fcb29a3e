"""Reprs, messages and failed comparisons have no private key; hidden characters are escaped."""

from __future__ import annotations

import base64
import pprint
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import Job, JobContext, JobError, KeyPair, Problem, SshPlugin, SvcPlugin, load_jobs, render
from pulumi_volcano_jobs.core.text import cropped, escaped, holds_key, may_be_key, without_keys
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.plugins import ssh_keys
from tests.conftest import container, job, refused, task, typed

PAIR = ssh_keys.generate()
BODY = PAIR.private.splitlines()[3]
ENCODED = base64.b64encode(PAIR.private.encode()).decode()
ENV = [{"name": "KEY", "value": PAIR.private}, {"name": "B64", "value": ENCODED}]
USES: dict[str, Any] = {
    "right": [f"--ssh-private-key={PAIR.private}", f"--ssh-public-key={PAIR.public.strip()}"],
    "apart": ["--ssh-private-key", PAIR.private, "--ssh-public-key", PAIR.public.strip()],
    "misspelt": [f"--ssh-privatekey={PAIR.private}"],
    "one dash": [f"-ssh-private-key={PAIR.private}"],
    "bare": [PAIR.private],
    "another flag": [f"--ssh-key-file-path={PAIR.private}"],
    "text": f"--ssh-private-key={PAIR.private}",
    "a mapping": {"ssh-private-key": PAIR.private},
    "typed": SshPlugin(ssh_private_key=PAIR.private, ssh_public_key=PAIR.public),
    "a typed one in the wrong place": SshPlugin(ssh_key_file_path=PAIR.private, ssh_public_key=PAIR.private),
}


def shown(*values: Any) -> str:
    """Return the text of values from repr, str and pprint."""
    return "\n".join(f"{value!r} {value} {pprint.pformat(value)}" for value in values)


def assert_no_key(text: str) -> None:
    """Check that a text has no key, in any spelling."""
    for part in (BODY, BODY[5:40], ENCODED[100:140], PAIR.private.splitlines()[-2]):
        assert part not in text.replace("\\n", "\n")


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_objects_with_a_job_show_no_key(use: Any) -> None:
    """Jobs, documents, rendered objects, plugins and errors."""
    document = job(task(containers=[container(env=ENV)]), plugins={"ssh": use, "svc": []})
    document["metadata"]["annotations"] = {"key": PAIR.private}
    (read,) = job_file.read(job_file.dump([document], "json")) if not isinstance(use, SshPlugin) else [None]
    values: list[Any] = [read, *_made(document), use if isinstance(use, SshPlugin) else None]

    assert_no_key(shown(*values))


def _made(document: dict[str, Any]) -> Iterator[Any]:
    for strict in (True, False):
        try:
            yield Job.model_validate(document)
            made = render(document, strict=strict)
        except JobError as error:
            yield error
            yield error.problems
        else:
            yield made
            yield made.job
            yield made.plugins
            yield made.native_job
            yield JobContext(made.job, PAIR)


@pytest.mark.parametrize("value", ["hunter2", "not a PEM"], ids=str)
@pytest.mark.parametrize("flag", ["--ssh-private-key", "--ssh-privatekey", "--ssh_private_key", "--ssh-private-kye"])
def test_a_key_that_is_not_pem_is_not_shown(flag: str, value: str) -> None:
    """The flag, or one with a similar name, marks it as a key."""
    for arguments in ([f"{flag}={value}"], [flag, value]):
        made = Job.model_validate(job(plugins={"ssh": arguments}))

        assert value not in shown(made, *job_file.read(job_file.dump([job(plugins={"ssh": arguments})])))


def test_arguments_that_are_not_keys_are_shown() -> None:
    """They help the user to find a mistake."""
    made = Job.model_validate(
        job(plugins={"ssh": ["--ssh-port=2222", "--ssh-key-file-path=/me"], "mpi": ["--port", "5"]})
    )

    assert "--ssh-port=2222" in repr(made)
    assert "--ssh-key-file-path=/me" in repr(made)
    assert "('--port', '5')" in repr(made)


@pytest.mark.parametrize("kind", ["rsa", "ed25519", "ecdsa"])
def test_a_generated_key_is_not_shown(kind: Any) -> None:
    """The repr of the rendered objects does not show it either."""
    pair = ssh_keys.generate(kind)
    made = render(job(plugins={"ssh": [], "svc": []}), keys=pair)

    for line in pair.private.splitlines()[1:-1]:
        assert line not in shown(made, pair, JobContext(made.job, pair))


UNEQUAL = {
    "jobs": lambda key: Job.model_validate(job(plugins={"ssh": [f"--ssh-private-key={key}"]})),
    "plugins": lambda key: SshPlugin(ssh_private_key=key, ssh_public_key="x"),
    "documents": lambda key: job_file.read(job_file.dump([job(plugins={"ssh": [f"--ssh-private-key={key}"]})]))[0],
    "rendered objects": lambda key: render(job(plugins={"ssh": [], "svc": []}), keys=KeyPair(key, "x")),
    "pairs": lambda key: KeyPair(key, "x"),
    "loaded jobs": lambda key: load_jobs(job_file.dump([job(plugins={"ssh": [f"--ssh-private-key={key}"]})])),
}


@pytest.mark.parametrize("make", UNEQUAL.values(), ids=UNEQUAL)
@pytest.mark.parametrize("verbosity", ["", "-vv"])
def test_a_failed_comparison_in_pytest_shows_no_key(make: Any, verbosity: str, request: pytest.FixtureRequest) -> None:
    """By default pytest prints the fields of two dataclasses that differ."""
    left, right = make(PAIR.private), make("other")
    assert (left == right, left == make(PAIR.private)) == (False, True)
    before = request.config.option.verbose
    request.config.option.verbose = len(verbosity) - 1 if verbosity else 0
    try:
        explained = request.config.hook.pytest_assertrepr_compare(
            config=request.config, op="==", left=left, right=right
        )
    finally:
        request.config.option.verbose = before

    assert_no_key("\n".join(line for lines in explained for line in lines or ()))


def test_plugins_are_compared_by_their_settings() -> None:
    """Dataclasses are compared in the same way."""
    assert SvcPlugin() == SvcPlugin()
    assert SvcPlugin() != SshPlugin()
    assert len({SshPlugin(ssh_port=5), SshPlugin(ssh_port=5), SshPlugin()}) == 2


KEYS = {
    "PEM": PAIR.private,
    "PEM in one line": PAIR.private.replace("\n", "\\n"),
    "a part": PAIR.private[:200],
    "base64": ENCODED,
    "base64 at another offset": base64.b64encode(f"x{PAIR.private}".encode()).decode(),
    "base64 at a third": base64.b64encode(f"xy{PAIR.private}".encode()).decode(),
    "lower case": PAIR.private.lower(),
    "OpenSSH's": ssh_keys.generate("ed25519").private,
    "OpenSSH's without its lines": "".join(ssh_keys.generate("ed25519").private.splitlines()[1:-1]),
    "PuTTY's": "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\nAAAA\n",
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_private_key_is_found_in_any_spelling(key: str) -> None:
    """Also with text around it."""
    text = without_keys(f"before {key}")

    assert holds_key(key)
    assert text.startswith("before ")
    assert len(text) < 60


@pytest.mark.parametrize(
    "text",
    [
        PAIR.public,
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
        base64.b64encode(b"-----BEGIN CERTIFICATE-----\n" + b"x" * 200).decode(),
        "a" * 500,
        "private key",
    ],
    ids=["a public key", "a certificate", "one in base64", "a long text", "words"],
)
def test_other_text_is_not_replaced(text: str) -> None:
    """It has no private key."""
    assert without_keys(text) == text


def test_messages_have_no_key_and_no_hidden_characters() -> None:
    """In every field of a Problem."""
    problem = Problem(f"a.{PAIR.private}", "Invalid", f"x {PAIR.private}", f"y \u202e{ENCODED}", repr(PAIR.private))

    assert_no_key(f"{problem!r} {problem}")
    assert "\\u202e" in str(problem)


@pytest.mark.parametrize(
    "sign", ["\x1b", "\x9b", "\u202e", "\u2066", "\u200b", "\u2028", "\x00", "\ufeff", "\u3164"], ids=ascii
)
def test_hidden_characters_are_escaped(sign: str) -> None:
    """In messages, manifests and reports they would change the text that people read."""
    document = job(task(containers=[container(image=f"a{sign}b", prots=[])]))
    error = refused(document | {"metadata": {"name": f"x{sign}y"}})

    assert sign not in str(error)
    assert sign not in escaped(f"a{sign}b")
    if sign != "\x00":
        manifests = [job(task(containers=[container(args=[f"a{sign}b"])]))]
        for style in ("yaml", "json"):
            text = job_file.dump(manifests, style)  # type: ignore[arg-type]
            (read,) = job_file.read(text) if style == "yaml" else job_file.read(text)[:1]
            assert sign not in text
            assert read.data == manifests[0]


def test_long_text_of_the_user_is_cut(snapshot: SnapshotAssertion) -> None:
    """Messages stay readable."""
    error = refused({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "x" * 1_000_000, "spec": {}})

    assert len(str(error)) < 5000
    assert cropped("x" * 2000, 10) == snapshot
    assert cropped("x" * 2000, 10).startswith("x" * 10 + "…")


def test_a_variable_s_name_with_a_value_in_it_is_cut() -> None:
    """The text after '=' is the value, which may be secret."""
    error = refused(job(task(containers=[container(env=[{"name": "PASSWORD=hunter2"}])])))

    assert "hunter2" not in str(error)
    assert "PASSWORD=" in str(error)


@pytest.mark.parametrize(
    "name", ["--ssh-private-key", "ssh_privatekey", "--api-token", "password", "--ssh-private-kye"]
)
def test_names_of_secrets_are_recognized(name: str) -> None:
    """This includes misspelled names."""
    assert may_be_key(name)


@pytest.mark.parametrize("name", ["--ssh-key-file-path", "ssh_key_file_path", "--ssh-port", "port"])
def test_other_names_are_not_secrets(name: str) -> None:
    """Their values are shown."""
    assert not may_be_key(name)


def test_lenient_rendering_leaves_out_all_keys() -> None:
    """In templates, annotations and arguments, in both modes."""
    env = [*ENV, {"name": "SPACED", "value": f"x {PAIR.private} y"}]
    document = job(
        task(containers=[container(env=env, command=["sh", "-c", f"echo '{PAIR.private}' > key"])]),
        plugins={"svc": [f"--ssh-private-key={PAIR.private}", f"--ssh-privatekey={BODY}"]},
    )
    document["metadata"]["annotations"] = {"key": PAIR.private}
    for mode in ("pulumi", "volcano"):
        made = render(document, strict=False, redact=True, managed_by=mode)  # type: ignore[arg-type]
        manifests = [*made.objects, *made.pods, made.job.to_manifest(), made.native_job.to_manifest()]

        assert_no_key(job_file.dump(manifests) + job_file.dump(manifests, "json"))


def _string(raw: bytes) -> bytes:
    return struct.pack(">I", len(raw)) + raw


def _compressed() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    point = key.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.CompressedPoint)
    public = _string(b"ecdsa-sha2-nistp256") + _string(b"nistp256") + _string(point)
    private = b"\1\2\3\4" * 2 + public + _string(key.private_numbers().private_value.to_bytes(33, "big")) + _string(b"")
    private += bytes(range(1, -len(private) % 8 + 1))
    head = b"openssh-key-v1\0" + _string(b"none") * 2 + _string(b"") + struct.pack(">I", 1)
    body = base64.b64encode(head + _string(public) + _string(private)).decode()
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----\n"


def test_an_ecdsa_key_with_a_compressed_point_is_an_error(snapshot: SnapshotAssertion) -> None:
    """Neither cryptography nor ssh can read it."""
    fault = KeyPair(_compressed(), "ecdsa-sha2-nistp256 AAAA").fault()

    assert fault is not None
    assert fault.part == "private"
    assert fault.reason == snapshot


def _dsa_warning(form: str, recwarn: pytest.WarningsRecorder) -> Problem:
    key = dsa.generate_private_key(1024)  # noqa: S505  # the only size that ssh has ever accepted
    recwarn.clear()
    private = key.private_bytes(
        serialization.Encoding.PEM, getattr(serialization.PrivateFormat, form), serialization.NoEncryption()
    ).decode()
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH).decode()
    recwarn.clear()

    made = render(job(plugins=[SshPlugin(ssh_private_key=private, ssh_public_key=public), SvcPlugin()]))

    (warning,) = made.warnings
    return warning


@pytest.mark.parametrize("form", ["TraditionalOpenSSL", "PKCS8", "OpenSSH"])
def test_a_dsa_key_has_a_warning(form: str, recwarn: pytest.WarningsRecorder) -> None:
    """Sshd rejects it; cryptography's own warning is not shown."""
    warning = _dsa_warning(form, recwarn)

    assert typed([warning]) == [("spec.plugins.ssh.ssh_private_key", "VJ126")]
    assert list(recwarn) == []


def test_the_warning_of_a_dsa_key_has_a_fix(recwarn: pytest.WarningsRecorder, snapshot: SnapshotAssertion) -> None:
    """The fix is to generate another key pair."""
    assert str(_dsa_warning("OpenSSH", recwarn)) == snapshot
