"""Reading the books: what the cloud really sold, whatever Iris believes."""

from dataclasses import dataclass

from scaling.platforms.simulated.ledger import Ledger
from scaling.platforms.simulated.records import Answer, BookedCall, BookedSlice, CallKind, CloudRule
from scaling.platforms.simulated.store import Store


@dataclass(frozen=True, slots=True)
class Books:
    """The books of one cloud, for tests and `manage.py cloud`."""

    store: Store
    cloud: str

    def slices(self) -> list[BookedSlice]:
        """Every slice ever accepted, oldest first."""
        with self.store.read() as transaction:
            return Ledger(transaction, self.cloud).all_slices()

    def live(self, now: float) -> list[BookedSlice]:
        """Slices that are not gone at `now` (Unix seconds)."""
        with self.store.read() as transaction:
            return Ledger(transaction, self.cloud).live(now)

    def calls(self, kind: CallKind | None = None) -> list[BookedCall]:
        """Every call, oldest first."""
        with self.store.read() as transaction:
            return Ledger(transaction, self.cloud).calls(kind)

    def accepted_creates(self, name: str) -> int:
        """How often a slice of that name was bought; more than 1 means it was bought twice."""
        with self.store.read() as transaction:
            return len(Ledger(transaction, self.cloud).accepted(name))

    def rules(self, now: float | None = None) -> list[CloudRule]:
        """The scripted rules; only those that apply at `now`, when it is given."""
        with self.store.read() as transaction:
            return Ledger(transaction, self.cloud).rules(now)

    def refusals(self) -> list[BookedCall]:
        """Creates that were not accepted."""
        return [call for call in self.calls(CallKind.CREATE) if call.answer is not Answer.ACCEPTED]

    def forget_before(self, moment: float) -> None:
        """Drop what is over since before `moment`: calls, gone slices, ended rules."""
        with self.store.write() as transaction:
            Ledger(transaction, self.cloud).forget_before(moment)
