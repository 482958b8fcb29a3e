"""`python -m pulumi_volcano_jobs` serves the component: it is how Pulumi starts a plugin that is a Python package.

The command line is `volcano-jobs`.
"""

from pulumi_volcano_jobs.component.provider import main

main()
