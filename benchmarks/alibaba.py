"""A real trace through the whole product: 8,152 jobs on 1,213 GPU nodes, served by the simulated cloud to their end.

Makes one group per GPU model and GPUs per node of the Alibaba node file (max = its nodes), starts Iris as an operator
would, gives the job file to the API in one call, and waits until every job is done or carries a hint that it can never
be placed. Prints counts and how long each cycle took. Exits 1 when a job was left, a hint was untrue, or a cycle took
2 s or more. Reads IRIS_DATA (default ../shared/data).

    .venv/bin/python benchmarks/alibaba.py [--cap SECONDS] [--jobs N]
"""

import argparse
import csv
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("IRIS_DATA") or ROOT.parent / "shared" / "data")
TIERS = {"LS": "production", "BE": "batch"}
GIVE_UP_SECONDS = 1200
CYCLE_LIMIT_MS = 2000


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cap", type=float, default=120, help="longest run of a task, seconds")
    options.add_argument("--jobs", type=int, default=10**9, help="take only the first N jobs")
    given = options.parse_args()
    nodes_file, pods_file = DATA / "alibaba_gpu_2023_nodes.csv", DATA / "alibaba_gpu_2023_pods.csv"
    for needed in (nodes_file, pods_file):
        if not needed.is_file():
            print(f"{needed}: not there; set IRIS_DATA to the folder with the traces")
            return 2
    jobs = [job_of(row, given.cap) for row in csv.DictReader(pods_file.open())][: given.jobs]
    with tempfile.TemporaryDirectory() as state:
        return run(Path(state), list(csv.DictReader(nodes_file.open())), jobs)


def job_of(pod: dict[str, str], cap: float) -> dict[str, object]:
    """One job of the trace; a share of a GPU is given in thousandths."""
    gpus, share = int(pod["num_gpu"]), int(pod["gpu_milli"])
    resources: dict[str, object] = {"cpu": f"{pod['cpu_milli']}m", "memory": f"{pod['memory_mib']}MiB"}
    if gpus:
        resources["gpu"] = share / 1000 if gpus == 1 and share < 1000 else gpus
    start = float(pod["scheduled_time"] or pod["creation_time"])
    return {
        "id": pod["name"],
        "tasks": 1,
        "resources": resources,
        "tier": TIERS.get(pod["qos"], "standard"),
        "allow_accelerators": gpus == 0,
        "run_seconds": max(1.0, min(cap, float(pod["deletion_time"]) - start)),
    }


def run(state: Path, nodes: list[dict[str, str]], jobs: list[dict[str, object]]) -> int:
    os.environ |= {
        "IRIS_STATE_DIR": str(state),
        "IRIS_CYCLE_SECONDS": "5",
        "IRIS_CREATES_PER_MINUTE": "100000",
        "DJANGO_SETTINGS_MODULE": "iris_web.settings",
        "IRIS_LOG_LEVEL": "WARNING",
    }
    sys.path.insert(0, str(ROOT))
    import django

    manage = [sys.executable, str(ROOT / "manage.py")]
    subprocess.run([*manage, "migrate", "-v0"], check=True)
    django.setup()
    token = prepare(nodes)
    port = free_port()
    with (state / "up.log").open("w") as log:
        iris = subprocess.Popen([*manage, "up", "--no-demonstration", "--port", str(port)], stdout=log, stderr=log)
    try:
        answered(f"http://127.0.0.1:{port}/healthz", iris, state / "up.log")
        print(f"{len(jobs)} jobs, {len(nodes)} nodes")
        put(f"http://127.0.0.1:{port}/api/v1/demand/alibaba", token, jobs)
        return watch(nodes, jobs)
    finally:
        iris.send_signal(signal.SIGINT)
        print("stopped with exit code", iris.wait(timeout=20))


@dataclass(frozen=True)
class Kind:
    """The nodes of one model and GPU count; a worker's room is what each of them has at least."""

    model: str
    gpus: int
    nodes: int
    cpu_milli: int
    memory_mib: int

    @property
    def name(self) -> str:
        return f"gpu-{self.model.lower()}-{self.gpus}x"


def kinds_of(nodes: list[dict[str, str]]) -> list[Kind]:
    by_kind: dict[tuple[str, int], list[dict[str, str]]] = {}
    for node in nodes:
        by_kind.setdefault((node["model"], int(node["gpu"])), []).append(node)
    return [
        Kind(model, gpus, len(same), min(int(n["cpu_milli"]) for n in same), min(int(n["memory_mib"]) for n in same))
        for (model, gpus), same in sorted(by_kind.items())
    ]


def prepare(nodes: list[dict[str, str]]) -> str:
    from scaling import operations
    from scaling.history import Actor
    from scaling.models import Group, Installation, Platform, Source

    if not Installation.objects.exists():
        Installation.objects.create(identity=secrets.token_hex(8))
    cloud = Platform.objects.create(
        name="simulated",
        mode="act",
        label_prefix="ali",
        options={"simulation": {"boot_seconds": 10, "boot_spread_seconds": 5}},
    )
    for kind in kinds_of(nodes):
        Group.objects.create(
            name=kind.name,
            platform=cloud,
            device_type="gpu",
            device_variant=kind.model.lower(),
            devices_per_worker=kind.gpus,
            worker_cpu=kind.cpu_milli / 1000,
            worker_memory=kind.memory_mib * 2**20,
            max_slices=kind.nodes,
            scale_up_rate=100_000,
            scale_down_rate=100_000,
        )
    print(f"{Group.objects.count()} groups")
    _row, secret = operations.create_token(
        Actor.user("benchmark", Source.SHELL), "alibaba", "scheduler", scope="alibaba"
    )
    return secret


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answered(url: str, iris: subprocess.Popen[bytes], log: Path) -> None:
    for _try in range(150):
        try:
            urllib.request.urlopen(url, timeout=2)
            return
        except OSError:
            if iris.poll() is not None:
                raise SystemExit(log.read_text()) from None
            time.sleep(0.2)
    raise SystemExit("no page within 30 s\n" + log.read_text())


def put(url: str, token: str, jobs: list[dict[str, object]]) -> None:
    body = json.dumps({"jobs": jobs}).encode()
    request = urllib.request.Request(
        url,
        data=body,
        method="PUT",
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    began = time.monotonic()
    with urllib.request.urlopen(request, timeout=120) as answer:
        print(
            f"PUT {len(body) / 1e6:.1f} MB: {answer.status} in {time.monotonic() - began:.1f} s: {answer.read(300)!r}"
        )


def watch(nodes: list[dict[str, str]], jobs: list[dict[str, object]]) -> int:
    from scaling.models import Cycle, Hint, Job, Slice

    began = time.monotonic()
    while True:
        time.sleep(5)
        states = Counter(Job.objects.values_list("state", flat=True))
        hints = Counter(Hint.objects.values_list("code", flat=True))
        live = Counter(Slice.objects.filter(ended_at=None).values_list("state", flat=True))
        print(
            f"{time.monotonic() - began:6.0f} s jobs {dict(states)} hints {dict(hints)} slices {dict(live)}", flush=True
        )
        open_jobs = states["pending"] + states["running"]
        hopeless = hints["insufficient_resources"] + hints["no_matching_group"] + hints["invalid_request"]
        if open_jobs == hopeless or time.monotonic() - began > GIVE_UP_SECONDS:
            break
    left = open_jobs - hopeless
    untrue = [hint for hint in Hint.objects.select_related("job") if fits(hint.job.job_id, nodes, jobs)]
    cycles = list(Cycle.objects.order_by("id").values_list("duration_ms", "plan_ms", "status"))
    slowest, planned = max(cycles)[0], max(cycle[1] for cycle in cycles)
    print(f"done {states['done']}, hinted {hopeless}, left {left}, untrue hints {len(untrue)}")
    print(f"{len(cycles)} cycles: {dict(Counter(cycle[2] for cycle in cycles))}")
    print(f"slowest cycle {slowest:.0f} ms, slowest plan {planned:.0f} ms")
    print(f"{Slice.objects.count()} slices were bought")
    return 1 if left or untrue or slowest >= CYCLE_LIMIT_MS else 0


def fits(job_id: str, nodes: list[dict[str, str]], jobs: list[dict[str, object]]) -> bool:
    """Whether some group could hold the job by the plain numbers of the trace: then no hint may say it never can."""
    job = next(job for job in jobs if job["id"] == job_id)
    resources = job["resources"]
    assert isinstance(resources, dict)
    return any(
        kind.cpu_milli >= int(resources["cpu"][:-1])
        and kind.memory_mib >= int(resources["memory"][:-3])
        and kind.gpus >= float(resources.get("gpu", 0))
        for kind in kinds_of(nodes)
    )


if __name__ == "__main__":
    sys.exit(main())
