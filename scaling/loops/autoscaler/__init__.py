"""The group autoscaler, live: a thin shell that lists, reads, asks the pure core, stores, and sends."""

from scaling.loops.autoscaler.cycle import run

__all__ = ["run"]
