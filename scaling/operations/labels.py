"""What people call the fields that they edit, and the order they are asked for in: on the pages and in the admin."""

from django.conf import settings

LIMIT_SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Slices", ("min_slices", "buffer_slices", "max_slices")),
    ("Order and quota", ("priority", "quota_pool", "allocation_tier")),
    ("Windows", ("idle_threshold_seconds", "drain_idle_threshold_seconds", "provision_timeout_seconds")),
    ("Rates and cost", ("scale_up_rate", "scale_down_rate", "price_per_slice_hour")),
    ("Labels", ("attributes",)),
)
LIMIT_LABELS: dict[str, str] = {
    "min_slices": "Min slices",
    "buffer_slices": "Buffer slices",
    "max_slices": "Max slices",
    "priority": "Priority",
    "quota_pool": "Quota pool",
    "allocation_tier": "Allocation tier",
    "idle_threshold_seconds": "Idle threshold, seconds",
    "drain_idle_threshold_seconds": "Idle threshold while draining, seconds",
    "provision_timeout_seconds": "Provision timeout, seconds",
    "scale_up_rate": "Scale-up rate, slices per minute",
    "scale_down_rate": "Scale-down rate, slices per minute",
    "price_per_slice_hour": f"Price of a slice for an hour, {settings.IRIS_CURRENCY}",
    "attributes": "Attributes (JSON)",
}
POOL_LABELS: dict[str, str] = {"limit": "Limit, devices", "quota_metric": "Quota metric"}
EDIT_SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Replicas", ("min_replicas", "max_replicas", "scale_up_limit")),
    ("Targets", ("target_latency_p95_ms", "target_rps", "tolerance")),
    ("Time", ("stabilization_window_seconds", "cooldown_seconds")),
)
EDIT_LABELS: dict[str, str] = {
    "min_replicas": "Min replicas",
    "max_replicas": "Max replicas",
    "target_latency_p95_ms": "Target p95",
    "target_rps": "Target requests per replica",
    "stabilization_window_seconds": "Stabilization window",
    "cooldown_seconds": "Cooldown",
    "tolerance": "Tolerance",
    "scale_up_limit": "Limit per call",
}
