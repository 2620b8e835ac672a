"""Which client serves which platform."""

from django.conf import settings
from django.db.models import Q

from scaling import clock
from scaling.models import Platform
from scaling.platforms.base import PlatformError, Provisioner
from scaling.platforms.simulated import Books, CloudScript, CloudSettings, SimulatedProvisioner
from scaling.platforms.simulated.location import cloud_store

# The key in Platform.options with the CloudSettings of its simulated cloud; other keys are the real cloud's own.
SIMULATION_OPTION = "simulation"

# Kinds that have a client of their own; slices of the others come from the simulated cloud.
BUILT_KINDS = frozenset({"simulated"})


def simulated_by(relation: str = "") -> Q:
    """The condition that a row's platform (over `relation`, as in a filter) is simulated."""
    prefix = f"{relation}__" if relation else ""
    return Q(**{f"{prefix}kind": "simulated"}) | Q(**{f"{prefix}simulated": True})


def provisioner(platform: Platform) -> Provisioner:
    """The client of a platform; raises PlatformError where its kind is not built and it is not simulated."""
    if not platform.is_simulated:
        raise PlatformError(
            f"Platform {platform.name}: no client for kind {platform.kind}; expected kind simulated or simulated=true."
        )
    return SimulatedProvisioner(
        store=cloud_store(),
        cloud=platform.name,
        settings=cloud_settings(platform),
        platform_kind=platform.kind,
        timeout_seconds=settings.IRIS_PLATFORM_TIMEOUT,
        now=_seconds,
    )


def cloud_settings(platform: Platform) -> CloudSettings:
    """How the platform's simulated cloud behaves; raises PlatformError naming a wrong option."""
    options = platform.options.get(SIMULATION_OPTION, {})
    return CloudSettings.from_options(options, f"Platform {platform.name}: options.{SIMULATION_OPTION}")


def cloud_books(platform: Platform) -> Books:
    """The books of the platform's simulated cloud; each platform has its own."""
    return Books(cloud_store(), platform.name)


def cloud_script(platform: Platform) -> CloudScript:
    """The levers of the platform's simulated cloud."""
    return CloudScript(cloud_store(), platform.name, now=_seconds)


def _seconds() -> float:
    return clock.now().timestamp()
