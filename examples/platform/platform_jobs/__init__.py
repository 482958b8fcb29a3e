"""How our teams train: their queues, the training job, and the rules that it is held to."""

from __future__ import annotations

from platform_jobs.stacks import Queues
from platform_jobs.teams import TEAMS, Team
from platform_jobs.training import GPUS, TrainingError, TrainingJob, TrainingJobArgs

__all__ = ["GPUS", "TEAMS", "Queues", "Team", "TrainingError", "TrainingJob", "TrainingJobArgs"]
