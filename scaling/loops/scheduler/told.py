"""What a round changed, for the feed: one event per changed thing, however much happened to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from scaling import feed
from scaling.loops.scheduler.rows import JobCounts


@dataclass(slots=True)
class Told:
    """Collects jobs with their last state, and slices (with their group) whose activity changed."""

    states: dict[tuple[str, str], str] = field(default_factory=dict)
    slices: dict[str, str] = field(default_factory=dict)

    def jobs(self, jobs: Mapping[int, JobCounts], states: Mapping[int, str]) -> None:
        for pk, state in states.items():
            self.states[jobs[pk].source, jobs[pk].job_id] = state

    def slice_(self, name: str, group: str) -> None:
        self.slices[name] = group

    def publish(self) -> None:
        """Write the events; none when nothing changed."""
        events = [
            (feed.job_topic(source, job_id), "job", {"source": source, "id": job_id, "state": state})
            for (source, job_id), state in self.states.items()
        ]
        events += [(f"slice:{name}", "activity", {"name": name, "group": group}) for name, group in self.slices.items()]
        events += [(f"group:{group}", "activity", {"name": group}) for group in dict.fromkeys(self.slices.values())]
        if events:
            counts = {"jobs": len(self.states), "slices": len(self.slices)}
            feed.publish_many([*events, ("overview", "activity", counts)])
