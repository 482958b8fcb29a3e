"""The platform's rules for Volcano jobs: put your queues and registries here."""

from pulumi_volcano_jobs import policy

policy.pack(queues=["research", "prod"], registries=["registry.example.com", "ghcr.io/my-team"])
