"""Rewards of a Gradus reward service in Python trainers: `trl`, `verl`, `skyrl`; `gradus_judge` for verifiers and prime-rl."""

from .client import GradusClient, ServiceUnavailable

__all__ = ["GradusClient", "ServiceUnavailable"]
