"""How the simulated cloud answers a call: the checks of a real cloud's front desk, in its order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scaling.platforms.base import SliceRequest
from scaling.platforms.simulated.chance import boot_fails, boot_times, call_breaks, call_is_slow, zone_out_of_stock
from scaling.platforms.simulated.ledger import Ledger, covered
from scaling.platforms.simulated.records import Answer, CallKind, CloudRule, RuleKind
from scaling.platforms.simulated.settings import CloudSettings
from scaling.platforms.simulated.texts import TEXTS, Texts, fill, stockout_text, usual_metric, voice_of

_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer, its words, and how long it takes to arrive after the effect."""

    answer: Answer
    error: str = ""
    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Desk:
    """Judges the calls to one cloud within one transaction at one moment; `now` is Unix seconds."""

    ledger: Ledger
    settings: CloudSettings
    platform_kind: str
    now: float

    def judge_create(self, request: SliceRequest) -> Verdict:
        """Refuse or accept; the first check that objects decides."""
        rules = covered(self.ledger.rules(self.now), request)
        checks: Sequence[Callable[[SliceRequest, list[CloudRule]], Verdict | None]] = (
            lambda _request, rules: self._call_trouble(CallKind.CREATE, request.name, rules),
            self._rate,
            self._exists,
            self._refused,
            self._quota,
            self._stock,
        )
        found = (verdict for check in checks if (verdict := check(request, rules)) is not None)
        verdict = next(found, Verdict(Answer.ACCEPTED))
        return self._with_delay(verdict, CallKind.CREATE, request.name, rules)

    def judge_other(self, kind: CallKind, name: str = "") -> Verdict:
        """A delete or a list: only calls themselves can fail, so rules of one zone or group do not concern them."""
        rules = [rule for rule in self.ledger.rules(self.now) if rule.selects_all]
        verdict = self._call_trouble(kind, name, rules) or self._rate_of(kind, rules, "429 Too many requests")
        verdict = verdict or Verdict(Answer.LISTED if kind is CallKind.LIST else Answer.ACCEPTED)
        return self._with_delay(verdict, kind, name, rules)

    # -- what happens to an accepted slice

    def boot_plan(self, request: SliceRequest) -> tuple[float, ...]:
        """When each worker will be READY."""
        scripted = self._first(RuleKind.BOOT, covered(self.ledger.rules(self.now), request))
        seconds = boot_times(
            self.settings, self.ledger.cloud, request.name, request.workers, scripted.seconds if scripted else None
        )
        return tuple(self.now + after for after in seconds)

    def late_failure(self, request: SliceRequest, ready_at: float) -> tuple[float, str] | None:
        """When and with which words it fails after acceptance, if it does."""
        texts = self._texts(request)
        scripted = self._due(RuleKind.LATE_FAILURE, covered(self.ledger.rules(self.now), request))
        if scripted is not None:
            self.ledger.spend(scripted)
            return self.now + scripted.seconds, fill(scripted.error or texts.boot_failure, request)
        if boot_fails(self.settings, self.ledger.cloud, request.name):
            return self.now + (ready_at - self.now) / 2, fill(texts.boot_failure, request)
        return None

    # -- the checks

    def _call_trouble(self, kind: CallKind, name: str, rules: list[CloudRule]) -> Verdict | None:
        scripted = next((r for r in rules if r.kind is RuleKind.OUTAGE and r.on_call(kind) and self._ripe(r)), None)
        if scripted is not None:
            self.ledger.spend(scripted)
            return Verdict(Answer.UNREACHABLE, scripted.error or "503 The service is currently unavailable.")
        earlier = self.ledger.earlier_calls(kind, name)
        if call_breaks(self.settings, self.ledger.cloud, kind, name, earlier):
            return Verdict(Answer.UNREACHABLE, "503 The service is currently unavailable.")
        return None

    def _rate(self, request: SliceRequest, rules: list[CloudRule]) -> Verdict | None:
        return self._rate_of(CallKind.CREATE, rules, fill(self._texts(request).rate, request))

    def _rate_of(self, kind: CallKind, rules: list[CloudRule], text: str) -> Verdict | None:
        limits = [rule for rule in rules if rule.kind is RuleKind.RATE_LIMIT and rule.on_call(kind)]
        if not limits:
            return None
        lately = self.ledger.let_through_since(kind, self.now - _MINUTE)
        broken = next((rule for rule in limits if lately >= rule.amount), None)
        return Verdict(Answer.RATE_LIMITED, broken.error or text) if broken else None

    def _exists(self, request: SliceRequest, _rules: list[CloudRule]) -> Verdict | None:
        if self.ledger.named(request.name, self.now) is None:
            return None
        return Verdict(Answer.EXISTS, fill(self._texts(request).exists, request))

    def _refused(self, request: SliceRequest, rules: list[CloudRule]) -> Verdict | None:
        rule = self._due(RuleKind.REFUSE, rules)
        return self._refusal(rule, rule.error or self._texts(request).refused, request) if rule else None

    def _quota(self, request: SliceRequest, rules: list[CloudRule]) -> Verdict | None:
        wanted = request.workers * (request.devices_per_worker or 1)
        for rule in rules:
            if rule.kind is RuleKind.QUOTA and self.ledger.devices_held(rule, self.now) + wanted > rule.amount:
                metric = rule.metric or usual_metric(request)
                text = fill(rule.error or self._texts(request).quota, request, metric, rule.amount)
                return Verdict(Answer.REFUSED, text)
        return None

    def _stock(self, request: SliceRequest, rules: list[CloudRule]) -> Verdict | None:
        words = stockout_text(self._texts(request), request)
        rule = self._due(RuleKind.STOCKOUT, rules)
        if rule is not None:
            return self._refusal(rule, rule.error or words, request)
        if request.zone and zone_out_of_stock(self.settings, self.ledger.cloud, request.zone, self.now):
            return Verdict(Answer.REFUSED, fill(words, request))
        return None

    def _refusal(self, rule: CloudRule, words: str, request: SliceRequest) -> Verdict:
        self.ledger.spend(rule)
        return Verdict(Answer.REFUSED, fill(words, request))

    # -- which rule

    def _due(self, kind: RuleKind, rules: list[CloudRule]) -> CloudRule | None:
        return next((rule for rule in rules if rule.kind is kind and self._ripe(rule)), None)

    def _first(self, kind: RuleKind, rules: list[CloudRule]) -> CloudRule | None:
        return next((rule for rule in rules if rule.kind is kind), None)

    def _ripe(self, rule: CloudRule) -> bool:
        """Whether the creates that a rule lets through first have been accepted."""
        return not rule.after or self.ledger.accepted_under(rule) >= rule.after

    def _with_delay(self, verdict: Verdict, kind: CallKind, name: str, rules: list[CloudRule]) -> Verdict:
        scripted = next((r for r in rules if r.kind is RuleKind.SLOW and r.on_call(kind) and self._ripe(r)), None)
        if scripted is not None:
            self.ledger.spend(scripted)
            return Verdict(verdict.answer, verdict.error, scripted.seconds)
        slow = call_is_slow(self.settings, self.ledger.cloud, kind, name, self.ledger.earlier_calls(kind, name))
        delay = self.settings.slow_seconds if slow else self.settings.answer_seconds
        return Verdict(verdict.answer, verdict.error, delay)

    def _texts(self, request: SliceRequest) -> Texts:
        return TEXTS[voice_of(self.platform_kind, request)]
