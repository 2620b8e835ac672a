"""The control plane around a scripted platform, whose next cycle the previews foretell."""

from tests.loops.autoscaler.conftest import iris  # noqa: F401 - a fixture is found by its name
