"""A small simulated cluster that is visibly alive, for a first look at Iris without any configuration."""

from scaling.demonstration.seed import seed

__all__ = ["seed"]
