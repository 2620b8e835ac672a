"""A cloud with books of its own, in which every trouble of a real one can be scripted or happens by chance."""

from scaling.platforms.simulated.books import Books
from scaling.platforms.simulated.provisioner import SimulatedProvisioner
from scaling.platforms.simulated.records import Answer, BookedCall, BookedSlice, CallKind, CloudRule, RuleKind
from scaling.platforms.simulated.script import CloudScript
from scaling.platforms.simulated.settings import CloudSettings
from scaling.platforms.simulated.store import PostgresStore, SqliteStore, Store

__all__ = [
    "Answer",
    "BookedCall",
    "BookedSlice",
    "Books",
    "CallKind",
    "CloudRule",
    "CloudScript",
    "CloudSettings",
    "PostgresStore",
    "RuleKind",
    "SimulatedProvisioner",
    "SqliteStore",
    "Store",
]
