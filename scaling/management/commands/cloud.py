"""`manage.py cloud`: look into the books of a simulated cloud and make it misbehave."""

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError

from scaling import clock
from scaling.management.base import IrisCommand
from scaling.models import Platform
from scaling.platforms.base import PlatformError
from scaling.platforms.registry import cloud_books, cloud_script
from scaling.platforms.simulated import BookedCall, BookedSlice, CallKind, CloudRule, CloudScript, RuleKind
from scaling.platforms.simulated.life import state_of


class Command(IrisCommand):
    help = "Show what a simulated cloud has sold, or make it misbehave."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--platform", default="", help="Name of the platform; needed when several are simulated.")
        acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
        show = acts.add_parser("show", help="live slices, rules and the latest calls")
        show.add_argument("--calls", type=_count, default=10, help="how many of the latest calls")
        stockout = acts.add_parser("stockout", help="a zone runs out of stock")
        stockout.add_argument("zone")
        stockout.add_argument("--minutes", type=_amount, default=5.0)
        fail = acts.add_parser("fail", help="the next calls fail")
        fail.add_argument("call", choices=[kind.value for kind in CallKind])
        fail.add_argument("--count", type=_count, default=1)
        fail.add_argument("--error", default="", help="the words; a create with words is refused, else unanswered")
        slow = acts.add_parser("slow", help="the next creates are answered late")
        slow.add_argument("seconds", type=_amount)
        slow.add_argument("--count", type=_count, default=1)
        preempt = acts.add_parser("preempt", help="a worker of a slice vanishes")
        preempt.add_argument("slice")
        preempt.add_argument("--worker", type=_count, default=0)
        acts.add_parser("calm", help="end every rule made so far")

    def handle(self, *_args: object, **options: Any) -> None:
        try:
            platform = _chosen(options["platform"])
            if options["act"] == "show":
                self._show(platform, options["calls"])
            else:
                if options["act"] == "stockout":
                    _check_zone(platform, options["zone"])
                self.stdout.write(f"{platform.name}: {_do(cloud_script(platform), options)}")
        except PlatformError as error:
            raise CommandError(str(error)) from error

    def _show(self, platform: Platform, calls: int) -> None:
        books, now = cloud_books(platform), clock.now().timestamp()
        live, rules = books.live(now), books.rules(now)
        self.stdout.write(
            f"{platform.name}: {len(live)} live slices, {len(rules)} rules, {len(books.refusals())} refusals"
        )
        for line in [_slice_line(each, now) for each in live] + [_rule_line(rule, now) for rule in rules]:
            self.stdout.write(f"  {line}")
        for call in books.calls()[-calls:] if calls else []:
            self.stdout.write(f"  {_call_line(call, now)}")


def _chosen(name: str) -> Platform:
    simulated = [platform for platform in Platform.objects.all() if platform.is_simulated]
    found = [platform for platform in simulated if platform.name == name or not name]
    if len(found) == 1:
        return found[0]
    known = ", ".join(platform.name for platform in simulated) or "none"
    raise CommandError(f"--platform: expected the name of one simulated platform (there are: {known}), got {name!r}")


def _check_zone(platform: Platform, zone: str) -> None:
    """A rule for a zone that nobody buys in would change nothing and look as if it did."""
    known = sorted(set(platform.groups.exclude(zone="").values_list("zone", flat=True)))
    if zone not in known:
        raise CommandError(f"ZONE: expected one of {', '.join(known) or 'none (no group has a zone)'}, got {zone!r}")


def _do(script: CloudScript, options: dict[str, Any]) -> str:
    """Pull one lever; returns what will happen, for the person who asked."""
    match options["act"]:
        case "stockout":
            script.stock_out(zone=options["zone"], for_seconds=options["minutes"] * 60)
            return f"zone {options['zone']} is out of stock for {options['minutes']:g} minutes"
        case "fail":
            return _fail(script, CallKind(options["call"]), options["count"], options["error"])
        case "slow":
            script.slow_down(options["seconds"], CallKind.CREATE, options["count"])
            return f"the next {options['count']} creates are answered {options['seconds']:g} s after they took effect"
        case "preempt":
            script.preempt(options["slice"], options["worker"])
            return f"worker {options['worker']} of {options['slice']} has vanished"
    return f"{script.calm()} rules ended"


def _fail(script: CloudScript, kind: CallKind, count: int, error: str) -> str:
    if kind is CallKind.CREATE and error:
        script.refuse(error, count=count)
        return f"the next {count} creates are refused: {error}"
    script.break_calls(kind, count=count, error=error)
    return f"the next {count} {kind} calls get no answer"


def _slice_line(booked: BookedSlice, now: float) -> str:
    return f"slice {booked.name} {state_of(booked, now)} in {booked.zone or '-'}, {now - booked.accepted_at:.0f} s old"


def _rule_line(rule: CloudRule, now: float) -> str:
    where = " ".join(part for part in (rule.call, rule.zone, rule.group, rule.variant, rule.pool) if part)
    ends = "" if rule.ends_at is None else f", {rule.ends_at - now:.0f} s left"
    uses = "" if rule.remaining is None else f", {rule.remaining} uses left"
    amount = f" at most {rule.amount}" if rule.kind in (RuleKind.QUOTA, RuleKind.RATE_LIMIT) else ""
    return f"rule {rule.kind} {where or 'everywhere'}{amount}{ends}{uses}"


def _call_line(call: BookedCall, now: float) -> str:
    answered = "" if call.answered_at is not None else " (never answered)"
    words = f": {call.error}" if call.error else ""
    return f"call {now - call.arrived_at:.0f} s ago {call.kind} {call.slice or '-'} {call.answer}{answered}{words}"


def _count(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 7:
        return int(text)
    raise ArgumentTypeError(f"expected a whole number, 0 or more, got {text!r}")


def _amount(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if 0 <= value < 1e9:
        return value
    raise ArgumentTypeError(f"expected a number, 0 or more, got {text!r}")
