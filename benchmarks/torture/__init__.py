"""The control plane killed at hundreds of moments, and the simulated cloud's books read afterwards.

`make torture` starts the real processes, lets them buy and release slices, kills all of them with SIGKILL in the midst
of it, starts them again, and checks that nothing was bought twice, forgotten or left running. Which moments were really
hit is read from the database and the cloud's books after each kill, not taken from what was aimed at.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
