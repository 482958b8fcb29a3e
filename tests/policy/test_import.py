"""What happens without the extra."""

from __future__ import annotations

import subprocess
import sys


def test_without_the_package_the_message_says_what_to_install() -> None:
    """The rest of the library works without it."""
    code = (
        "import sys\nsys.modules['pulumi_policy'] = None\nimport pulumi_volcano_jobs\n"
        "try:\n    import pulumi_volcano_jobs.policy\nexcept ModuleNotFoundError as error:\n    print(error)\n"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert said == (
        "pulumi_volcano_jobs.policy needs the package pulumi-policy: pip install 'pulumi-volcano-jobs[policy]', in the"
        " environment that the policy pack runs in\n"
    )
