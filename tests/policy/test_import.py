"""Import of the policy module without its extra."""

from __future__ import annotations

import subprocess
import sys

from syrupy.assertion import SnapshotAssertion


def test_without_the_extra_the_error_has_the_install_command(snapshot: SnapshotAssertion) -> None:
    """All other modules of the library can be imported."""
    code = (
        "import sys\nsys.modules['pulumi_policy'] = None\nimport pulumi_volcano_jobs\n"
        "try:\n    import pulumi_volcano_jobs.policy\nexcept ModuleNotFoundError as error:\n    print(error)\n"
    )

    command = [sys.executable, "-c", code]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert output == snapshot
