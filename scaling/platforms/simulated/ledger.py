"""The books as one transaction sees them: every statement on slices, calls and rules of one cloud."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from scaling.platforms.base import SliceRequest
from scaling.platforms.simulated.records import (
    Answer,
    BookedCall,
    BookedSlice,
    CallKind,
    CloudRule,
    Placed,
    WorkerLoss,
    call_from_row,
    losses_to_json,
    rule_from_row,
    slice_from_row,
)
from scaling.platforms.simulated.store import Transaction


@dataclass(frozen=True, slots=True)
class Ledger:
    """What one transaction reads and writes for one cloud."""

    transaction: Transaction
    cloud: str

    # -- slices

    def live(self, now: float, installation: str | None = None) -> list[BookedSlice]:
        """Slices that are not gone, oldest first; of one installation, or of all."""
        where, parameters = "cloud = ? AND (gone_at IS NULL OR gone_at > ?)", [self.cloud, now]
        if installation is not None:
            where, parameters = f"{where} AND installation = ?", [*parameters, installation]
        return self._slices(where, parameters)

    def named(self, name: str, now: float) -> BookedSlice | None:
        """The slice of that name that is not gone."""
        found = self._slices("cloud = ? AND name = ? AND (gone_at IS NULL OR gone_at > ?)", [self.cloud, name, now])
        return found[0] if found else None

    def accepted(self, name: str) -> list[BookedSlice]:
        """Every slice that was ever accepted under that name."""
        return self._slices("cloud = ? AND name = ?", [self.cloud, name])

    def all_slices(self) -> list[BookedSlice]:
        return self._slices("cloud = ?", [self.cloud])

    def _slices(self, where: str, parameters: Sequence[object]) -> list[BookedSlice]:
        sql = f"SELECT * FROM slices WHERE {where} ORDER BY id"  # noqa: S608 - the conditions of this module
        return [slice_from_row(row) for row in self.transaction.run(sql, parameters)]

    def add_slice(
        self,
        request: SliceRequest,
        accepted_at: float,
        worker_ready_at: Sequence[float],
        losses: tuple[WorkerLoss, ...],
        failure: tuple[float, str] | None,
    ) -> None:
        """Book a slice: from this commit on it has been bought."""
        fails_at, error = failure or (None, "")
        self._insert(
            "slices",
            cloud=self.cloud,
            name=request.name,
            installation=request.installation,
            group=request.group,
            zone=request.zone,
            device_type=request.device_type,
            device_variant=request.device_variant,
            devices_per_worker=request.devices_per_worker,
            workers=request.workers,
            capacity_type=request.capacity_type,
            quota_pool=request.quota_pool,
            accepted_at=accepted_at,
            worker_ready_at=json.dumps(list(worker_ready_at)),
            losses=losses_to_json(losses),
            fails_at=fails_at,
            error=error,
        )

    def end_slice(self, slice_id: int, deleted_at: float, gone_at: float) -> None:
        self.transaction.run(
            "UPDATE slices SET deleted_at = ?, gone_at = ? WHERE id = ?", [deleted_at, gone_at, slice_id]
        )

    def set_losses(self, slice_id: int, losses: tuple[WorkerLoss, ...]) -> None:
        self.transaction.run("UPDATE slices SET losses = ? WHERE id = ?", [losses_to_json(losses), slice_id])

    # -- calls

    def log_call(
        self,
        kind: CallKind,
        caller: str,
        arrived_at: float,
        effect_at: float | None,
        answer: Answer,
        error: str = "",
        slice_name: str = "",
        installation: str = "",
        group: str = "",
    ) -> int:
        """Write a call down, unanswered; returns its id."""
        return self._insert(
            "calls",
            cloud=self.cloud,
            kind=kind.value,
            slice=slice_name,
            installation=installation,
            group=group,
            caller=caller,
            arrived_at=arrived_at,
            effect_at=effect_at,
            answer=answer.value,
            error=error,
        )

    def answered(self, call_id: int, at: float) -> None:
        self.transaction.run("UPDATE calls SET answered_at = ? WHERE id = ?", [at, call_id])

    def calls(self, kind: CallKind | None = None) -> list[BookedCall]:
        rows = self.transaction.run("SELECT * FROM calls WHERE cloud = ? ORDER BY id", [self.cloud])
        return [call_from_row(row) for row in rows if kind is None or row["kind"] == kind]

    def earlier_calls(self, kind: CallKind, name: str) -> int:
        """How many calls of that kind for that name are booked."""
        return self._count(
            "SELECT COUNT(*) AS n FROM calls WHERE cloud = ? AND kind = ? AND slice = ?", kind.value, name
        )

    def let_through_since(self, kind: CallKind, since: float) -> int:
        """Calls after `since` that no rate limit refused."""
        return self._count(
            "SELECT COUNT(*) AS n FROM calls WHERE cloud = ? AND kind = ? AND arrived_at > ? AND answer <> ?",
            kind.value,
            since,
            Answer.RATE_LIMITED.value,
        )

    def _count(self, sql: str, *parameters: object) -> int:
        return int(self.transaction.run(sql, [self.cloud, *parameters])[0]["n"])

    # -- rules

    def rules(self, now: float | None = None) -> list[CloudRule]:
        """Rules in the order they were made; only those that apply at `now`, when it is given."""
        sql, parameters = "SELECT * FROM rules WHERE cloud = ?", [self.cloud]
        if now is None:
            return [rule_from_row(row) for row in self.transaction.run(f"{sql} ORDER BY id", parameters)]
        applying = (
            f"{sql} AND starts_at <= ? AND (ends_at IS NULL OR ends_at > ?) AND (remaining IS NULL OR remaining > 0)"
        )
        return [rule_from_row(row) for row in self.transaction.run(f"{applying} ORDER BY id", [*parameters, now, now])]

    def add_rule(self, rule: CloudRule) -> int:
        values = {**asdict(rule), "kind": rule.kind.value}
        del values["id"]
        return self._insert("rules", cloud=self.cloud, **values)

    def end_rules(self, now: float) -> int:
        """End every rule that applies now or later; returns how many."""
        ended = self.transaction.run(
            "UPDATE rules SET ends_at = ? WHERE cloud = ? AND (ends_at IS NULL OR ends_at > ?) RETURNING id",
            [now, self.cloud, now],
        )
        return len(ended)

    def spend(self, rule: CloudRule) -> None:
        """One use of a rule that applies so many times only."""
        if rule.remaining is not None:
            self.transaction.run("UPDATE rules SET remaining = remaining - 1 WHERE id = ?", [rule.id])

    def devices_held(self, rule: CloudRule, now: float) -> int:
        """Devices of the slices that a quota rule covers and that are not gone."""
        return sum(booked.devices for booked in self.live(now) if rule.covers(booked))

    def accepted_under(self, rule: CloudRule) -> int:
        """Creates accepted since the rule began that it covers."""
        since = self._slices("cloud = ? AND accepted_at >= ?", [self.cloud, rule.starts_at])
        return sum(1 for booked in since if rule.covers(booked))

    # -- all

    def forget_before(self, moment: float) -> None:
        """Drop calls, gone slices and ended rules older than that."""
        self.transaction.run("DELETE FROM calls WHERE cloud = ? AND arrived_at < ?", [self.cloud, moment])
        self.transaction.run("DELETE FROM slices WHERE cloud = ? AND gone_at < ?", [self.cloud, moment])
        self.transaction.run("DELETE FROM rules WHERE cloud = ? AND ends_at < ?", [self.cloud, moment])

    def _insert(self, table: str, **values: object) -> int:
        columns = ", ".join(f'"{column}"' for column in values)
        marks = ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({columns}) VALUES ({marks}) RETURNING id"  # noqa: S608 - names of this module
        return int(self.transaction.run(sql, list(values.values()))[0]["id"])


def covered(rules: Sequence[CloudRule], placed: Placed) -> list[CloudRule]:
    """The rules whose selectors hold for a request or a slice."""
    return [rule for rule in rules if rule.covers(placed)]
