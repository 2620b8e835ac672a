"""The columns in which a scaler keeps its replicas are one table for all who read them."""

import json

from scaling.loops.replicas.roster import to_store
from scaling.replica_rows import NAMES, StoredReplica, stored
from scaling.replicas.deployment import Deployment
from scaling.replicas.replica import Replica

NOW = 1_767_268_800.0


def test_what_a_tick_keeps_of_a_replica_is_read_by_name() -> None:
    deployment = Deployment("chat", min_replicas=1, max_replicas=3)
    replicas = [Replica("r1", "running", True, NOW - 500, NOW - 5), Replica("r2", "running", False, None, None)]
    kept = json.loads(json.dumps(to_store(replicas, (), deployment, NOW)))
    assert stored(kept) == [
        StoredReplica("r1", "running", True, NOW - 500, NOW - 5, True, "healthy", NOW),
        StoredReplica("r2", "running", False, None, None, False, stored(kept)[1].class_, NOW),
    ]


def test_json_names_the_columns_as_the_api_always_did() -> None:
    assert NAMES == ("id", "status", "healthy", "created", "checked", "was_healthy", "class", "since")
