"""The hour of `azure_hour`, live and ten times as fast: real loops, real replica processes, real Prometheus.

One instance of the control plane scales one deployment of the fleet in six minutes; cooldown, window, warm-up and rate
window are a tenth of theirs. Without Prometheus on this machine the fleet's stand-in is asked, which is said. Prints
the same summary as the hour in virtual time (times in seconds of the trace) and keeps the same bounds, the fixed fleet
being computed; every call that the Gateway got must have its Action and a stored decision that says why. Exits 1 when
something did not hold. Reads IRIS_DATA (default ../shared/data).

    .venv/bin/python -m benchmarks.azure_live [--seed N] [--quiet] [--keep]
"""

import argparse
import shutil
import sys
import time
from collections.abc import Iterator, Sequence

from benchmarks import azure_hour
from benchmarks.azure_hour import AboveTarget, Act, Hour
from benchmarks.replica_plane.fleet import LoggedCall
from benchmarks.replica_plane.place import Place, opened
from benchmarks.replica_plane.watching import until
from scaling.sources.prometheus import PrometheusSettings, PrometheusSource
from scaling.testing.fleet.load import TRACE_FILE, read_trace

SPEED = 10
START_SECONDS = 60.0
LOOK_SECONDS = 0.5
RATE_WINDOW = "6s"
FLEET = (
    *("--deployments", "1", "--speed", str(SPEED), "--tick", "0.2", "--warmup", "3", "--cooldown", "12"),
    *("--stabilization-window", "30"),
)
SETTINGS = {
    "IRIS_WORKERS": "2",
    "LYC_PROMETHEUS_WINDOW": RATE_WINDOW,
    "LYC_SCALER_HEARTBEAT_INTERVAL": "500ms",
    "LYC_SCRAPE_INTERVAL": "1s",
    "LYC_RECONCILE_INTERVAL": "500ms",
}


def watch(place: Place, seconds: int) -> Hour:
    """Look at the fleet and at its p95 until `seconds` of the trace are over."""
    hour, fleet = Hour(seconds), place.fleet
    (name,) = fleet.replicas()
    source = PrometheusSource(PrometheusSettings(place.metrics, window=RATE_WINDOW))
    seen = 0.0
    while seen < seconds:
        time.sleep(LOOK_SECONDS)
        now = time.time()
        at = min(float(seconds), (now - fleet.began) * SPEED)
        count = len(fleet.replicas()[name])
        hour.replica_seconds += round(count * (at - seen))
        hour.peak = max(hour.peak, count)
        hour.above.look(source.read([name], now, 2.0).readings[name].p95.value)
        seen = at
    source.close()
    return hour


def act_of(call: LoggedCall, began: float, reason: str) -> Act:
    return Act((call.at - began) * SPEED, call.add, len(call.stop), reason)


def reasons(calls: Sequence[LoggedCall]) -> Iterator[str]:
    """Why each call was made, by the decision stored with its Action; "" where either is missing."""
    from scaling.models import Action, ReplicaDecision

    told = list(Action.objects.filter(kind="scale_replicas").order_by("pk"))
    for call in calls:
        target, after = f"deployment {call.deployment}", {"add": call.add, "stop": list(call.stop)}
        action = next((one for one in told if (one.target, one.after) == (target, after)), None)
        if action is None:
            yield ""
            continue
        told.remove(action)
        decision = ReplicaDecision.objects.filter(action_id=action.pk).first()
        yield decision.reason if decision else ""


def report(hour: Hour, fixed: AboveTarget, seed: int, metrics: str) -> list[str]:
    first, *others = azure_hour.report(hour, fixed, seed)
    return [first.replace("azure_hour:", f"azure_live, ×{SPEED}, metrics from {metrics}:"), *others]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--quiet", action="store_true", help="leave out the single actions")
    options.add_argument("--keep", action="store_true", help="keep data and logs")
    given = options.parse_args()
    trace = azure_hour.DATA / TRACE_FILE
    if not trace.is_file():
        print(f"{trace}: not there; set IRIS_DATA to the folder with the traces")
        return 2
    times = read_trace(trace)
    scrape = "1s" if shutil.which("prometheus") else ""
    arguments = [*FLEET, "--seed", str(given.seed), "--trace", str(trace)]
    with opened(arguments, SETTINGS, scrape=scrape, keep=given.keep) as place:
        place.start("one")
        # The load begins with the fleet, so everything else is there before it.
        until(place.serves, START_SECONDS)
        place.fleet.start()
        hour = watch(place, int(times[-1]))
        calls = [call for call in place.fleet.calls() if call.status == "200"]
        hour.acts = [act_of(call, place.fleet.began, why) for call, why in zip(calls, reasons(calls), strict=True)]
        errors = place.errors()
    if not given.quiet:
        print("\n".join(f"{act.at:6.0f} s  {act.add - act.stop:+d}  {act.reason}" for act in hour.acts))
    fixed = azure_hour.run_fixed(times, hour.replicas, given.seed)
    print("\n".join(report(hour, fixed, given.seed, "Prometheus" if scrape else "the fleet's stand-in")))
    unexplained = sum(not act.reason for act in hour.acts)
    missed = azure_hour.misses(hour, fixed)
    missed += [f"{unexplained} calls without an Action and its decision"] if unexplained else []
    missed += [f"errors in the log, such as: {errors[0]}"] if errors else []
    print(f"missed: {'; '.join(missed)}" if missed else "every bound was kept")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
