"""The component provider: Pulumi runs `python -m pulumi_volcano_jobs` to start a plugin that is a Python package.

The command line is `volcano-jobs`.
"""

from pulumi_volcano_jobs.component.provider import main

main()
