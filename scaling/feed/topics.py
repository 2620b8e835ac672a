"""What a topic's event also reaches: an event on `group:tpu-v5-8` is news for whoever follows `groups`."""

from collections.abc import Collection

# A job's full name may be longer; PostgreSQL refuses the whole transaction for one such topic.
TOPIC_CHARACTERS = 220
_WHOLES = {"group": "groups", "slice": "slices", "job": "jobs", "deployment": "deployments"}
_PARTS = {whole: f"{part}:" for part, whole in _WHOLES.items()}


def job_topic(source: str, job_id: str) -> str:
    """The topic of one job: what its page follows and whoever changes it publishes on."""
    return f"job:{source}/{job_id}"[:TOPIC_CHARACTERS]


def reached(topic: str) -> tuple[str, ...]:
    """The topics whose followers an event on `topic` concerns: itself, and the whole of which it names a part."""
    whole = _WHOLES.get(topic.partition(":")[0]) if ":" in topic else None
    return (topic, whole) if whole else (topic,)


def prefixes(topics: Collection[str]) -> list[str]:
    """The beginnings of further topics that followers of `topics` want: `group:` for `groups`."""
    return [_PARTS[topic] for topic in sorted(topics) if topic in _PARTS]
