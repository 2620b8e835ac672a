"""What clouds say when they refuse: texts in the style of each, filled in with the request at hand."""

from dataclasses import dataclass
from enum import StrEnum

from scaling.platforms.base import SliceRequest
from scaling.platforms.simulated.chance import draw


class Voice(StrEnum):
    """Whose words: the Cloud TPU API, Compute Engine, or a Kubernetes-based cloud."""

    TPU = "tpu"
    COMPUTE = "compute"
    KUBERNETES = "kubernetes"


@dataclass(frozen=True, slots=True)
class Texts:
    """Templates of one voice; of several stock-out texts the slice's name picks one."""

    stockout: tuple[str, ...]
    quota: str
    rate: str
    outage: str
    boot_failure: str
    exists: str
    refused: str


_TPU_HINT = (
    "you can try in another zone where Cloud TPU Nodes are offered (see https://cloud.google.com/tpu/docs/regions)"
)

TEXTS = {
    Voice.TPU: Texts(
        stockout=(
            'There is no more capacity in the zone "{zone}"; ' + _TPU_HINT + " [EID: 0x{code}]",
            'Error code 8, message: There is no more capacity in the zone "{zone}" for {variant}; ' + _TPU_HINT,
        ),
        quota="Quota limit '{metric}' has been exceeded. Limit: {limit} in region {region}.",
        rate=(
            "429 Quota exceeded for quota metric 'Create node requests' and limit 'Create node requests per minute' of "
            "service 'tpu.googleapis.com' for consumer 'project_number:000000000000'."
        ),
        outage="503 The service is currently unavailable.",
        boot_failure="Cloud TPU node {name} failed to start: internal error on its host. [EID: 0x{code}]",
        exists="409 Resource 'projects/simulated/locations/{zone}/nodes/{name}' already exists",
        refused="400 Cloud TPU received a bad request: accelerator type {variant} is not offered in zone {zone}.",
    ),
    Voice.COMPUTE: Texts(
        stockout=(
            "The zone 'projects/simulated/zones/{zone}' does not have enough resources available to fulfill the "
            "request. Try a different zone, or try again later. (resource type:compute)",
            "A machine with {devices} {variant} accelerators is currently unavailable in the {zone} zone: "
            "ZONE_RESOURCE_POOL_EXHAUSTED.",
        ),
        quota="Quota '{metric}' exceeded.  Limit: {limit}.0 in region {region}.",
        rate=(
            "403 Quota exceeded for quota metric 'Heavy-weight mutation requests' and limit 'Heavy-weight mutation "
            "requests per minute' of service 'compute.googleapis.com'."
        ),
        outage="503 Backend error: the service is temporarily unavailable.",
        boot_failure="Instance {name} did not start: internal error on its host, please try again.",
        exists="409 The resource 'projects/simulated/zones/{zone}/instances/{name}' already exists",
        refused="400 Invalid value for field 'resource.machineType': {variant} does not exist in zone {zone}.",
    ),
    Voice.KUBERNETES: Texts(
        stockout=("0 nodes of type {variant} are free in {zone}: insufficient capacity for node pool {group}.",),
        quota='node pool "{group}" is forbidden: exceeded quota: {metric}, limited: {limit}',
        rate="429 Too many requests: the API server asks to retry after 1 second",
        outage="503 the server is currently unable to handle the request",
        boot_failure="node {name} became unhealthy while joining: kubelet stopped posting node status",
        exists='nodepools.compute "{name}" already exists',
        refused='node pool "{group}" is invalid: unsupported instance type {variant}',
    ),
}


def voice_of(platform_kind: str, request: SliceRequest) -> Voice:
    """Whose words fit: a CoreWeave platform speaks Kubernetes, elsewhere the device decides."""
    if platform_kind == "coreweave":
        return Voice.KUBERNETES
    return Voice.TPU if request.device_type == "tpu" else Voice.COMPUTE


def fill(template: str, request: SliceRequest, metric: str = "", limit: int = 0) -> str:
    """The template with the request's own zone, names and numbers; scripted texts may use the same fields."""
    values = {
        "zone": request.zone or "default",
        "region": _region(request.zone),
        "group": request.group,
        "name": request.name,
        "variant": request.device_variant or request.device_type,
        "devices": request.devices_per_worker or request.workers,
        "metric": metric,
        "limit": limit,
        "code": format(int(draw(request.name, "error id") * 16**12), "016x"),
    }
    for field, value in values.items():
        template = template.replace(f"{{{field}}}", str(value))
    return template


def stockout_text(texts: Texts, request: SliceRequest) -> str:
    """One of the voice's stock-out texts, the same one for the same slice; the first speaks of no accelerators."""
    if request.device_type == "cpu":
        return texts.stockout[0]
    return texts.stockout[int(len(texts.stockout) * draw(request.name, "text"))]


def usual_metric(request: SliceRequest) -> str:
    """The quota's own name where a rule gives none, in the cloud's way of naming."""
    preemptible = request.capacity_type == "preemptible"
    variant = request.device_variant.rpartition("-")[0] or request.device_variant or request.device_type
    if request.device_type == "tpu":
        return f"TPU{variant.upper()}{'Preemptible' if preemptible else ''}PerProjectPerRegionForTPUAPI"
    name = "CPUS" if request.device_type == "cpu" else f"NVIDIA_{request.device_variant.upper().replace('-', '_')}_GPUS"
    return f"PREEMPTIBLE_{name}" if preemptible else name


def _region(zone: str) -> str:
    """The zone without its last part when it has two dashes or more."""
    return zone.rpartition("-")[0] if zone.count("-") >= 2 else zone or "default"
