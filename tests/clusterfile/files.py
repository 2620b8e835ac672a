"""Cluster files for tests: the real ones where they are, and small ones made by hand."""

import copy
from collections.abc import Mapping
from typing import Any

import yaml

from scaling.clusterfile import ClusterImport, read_cluster
from tests.services.inputs import DATA, published

SMALL: dict[str, Any] = {
    "name": "small",
    "platform": {"label_prefix": "small", "gcp": {"project_id": "example-project"}},
    "defaults": {
        "autoscaler": {
            "evaluation_interval": {"milliseconds": 5000},
            "scale_down_delay": {"milliseconds": 240000},
        }
    },
    "tpu_pools": {
        "serving": {
            "family": "v5e",
            "zones": ["us-west4-a", "europe-west4-b"],
            "base_priority": 10,
            "resources": {"cpu": 112, "ram": "192GB", "disk": "100GB", "capacity_type": "preemptible"},
            "slice_template": {"gcp": {"service_account": "worker@example.invalid"}},
            "sizes": {16: {"max_slices": 4}, 4: {"buffer_slices": 2, "max_slices": 32}},
        }
    },
    "scale_groups": {
        "cpu": {
            "zones": ["us-west4-a"],
            "num_vms": 1,
            "priority": 500,
            "resources": {"cpu": 8, "ram": "16GiB", "device_type": "cpu", "capacity_type": "on-demand"},
            "max_slices": 6,
            "slice_template": {"gcp": {"machine_type": "n2-highmem-2"}},
        }
    },
}


def small(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The small file with values set by dotted path; REMOVED takes a key out."""
    content = copy.deepcopy(SMALL)
    for path, value in (changes or {}).items():
        *way, last = path.split(".")
        at = content
        for key in way:
            at = at[int(key) if key.isdigit() else key]
        key = int(last) if last.isdigit() and int(last) in at else last
        if value is REMOVED:
            del at[key]
        else:
            at[key] = value
    return content


REMOVED = object()


def real(name: str) -> ClusterImport:
    """A published cluster file, understood."""
    return read_cluster(yaml.safe_load(published(DATA / name).read_text("utf-8")))
