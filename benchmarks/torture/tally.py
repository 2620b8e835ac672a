"""Counts per window what was hit, and prints it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.torture.windows import Window


@dataclass(slots=True)
class Tally:
    """A kill counts in every window in which it found a slice. `cycles`: slices by how many cycles they waited."""

    kills: int = 0
    aimed: Counter[Window] = field(default_factory=Counter)
    hit: Counter[Window] = field(default_factory=Counter)
    slices: Counter[Window] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    cycles: Counter[int] = field(default_factory=Counter)
    back_seconds: list[float] = field(default_factory=list)

    def count(self, aimed: Window, found: Mapping[Window, int]) -> None:
        """One kill, with the number of slices that it found in each window."""
        self.kills += 1
        self.aimed[aimed] += 1
        for window, slices in found.items():
            self.hit[window] += 1
            self.slices[window] += slices

    def missed(self) -> list[Window]:
        """The windows that were aimed at and less than half as often hit."""
        return [window for window in Window if self.hit[window] * 2 < self.aimed[window]]

    def lines(self) -> Sequence[str]:
        """The table."""
        rows: list[tuple[str, ...]] = [("window", "aimed", "kills", "slices", "violations")]
        rows += [
            (
                window.value,
                *map(str, (self.aimed[window], self.hit[window], self.slices[window], self.violations[window])),
            )
            for window in Window
        ]
        if self.violations[""]:
            rows.append(("no window", "", "", "", str(self.violations[""])))
        table = [f"{row[0]:30}{row[1]:>7}{row[2]:>7}{row[3]:>8}{row[4]:>12}" for row in rows]
        return [*table, f"{self.kills} kills, {self.violations.total()} violations", *self._speed()]

    def _speed(self) -> list[str]:
        if not self.back_seconds:
            return []
        ordered = sorted(self.back_seconds)
        median, longest = ordered[len(ordered) // 2], ordered[-1]
        cycles = ", ".join(f"{count} slices in {cycles}" for cycles, count in sorted(self.cycles.items()))
        return [
            f"first whole cycle after a restart: median {median:.1f} s, longest {longest:.1f} s",
            f"cycles until the cloud had been asked again: {cycles or 'nothing had to be'}",
        ]
