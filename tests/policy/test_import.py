"""What happens without the extra."""

from __future__ import annotations

import subprocess
import sys

from syrupy.assertion import SnapshotAssertion


def test_without_the_package_the_error_says_how_to_install_it(snapshot: SnapshotAssertion) -> None:
    """The rest of the library works without it."""
    code = (
        "import sys\nsys.modules['pulumi_policy'] = None\nimport pulumi_volcano_jobs\n"
        "try:\n    import pulumi_volcano_jobs.policy\nexcept ModuleNotFoundError as error:\n    print(error)\n"
    )

    command = [sys.executable, "-c", code]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert output == snapshot
