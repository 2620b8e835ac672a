"""The replica scaler as it runs: a fleet, a database, and instances of the control plane, all as real processes.

What the benchmarks of the live scaler stand on. `place` opens it, `fleet` speaks with the fleet, `instance` is one
ticker with its task queue.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
