"""What followed from an action, and from that: the whole tree, as far as a page can show it."""

from dataclasses import dataclass, field

from django.db.models import Count

from iris_web.pages.action_rows import ActionRow, action_row
from scaling.models import Action
from scaling.once import fact

EFFECTS_SHOWN = 100
DEEPEST = 8


@dataclass(slots=True)
class Effect:
    """An action that followed, with what followed from it; `more` effects of its own are not shown."""

    row: ActionRow
    effects: list["Effect"] = field(default_factory=list)
    more: int = 0


@dataclass(slots=True)
class Tree:
    """The effects of one action; `more` of its own are not shown. `actions` are all that are."""

    effects: list[Effect] = field(default_factory=list)
    more: int = 0
    actions: list[Action] = field(default_factory=list)


@fact
def _trees() -> dict[int, Tree]:
    """What was read while one page is made, whose parts ask for the same."""
    return {}


def read_tree(root: int) -> Tree:
    """Level after level, at most `EFFECTS_SHOWN` actions and `DEEPEST` levels; one query each, and two to count."""
    known = _trees()
    if root not in known:
        known[root] = _read(root)
    return known[root]


def _read(root: int) -> Tree:
    tree = Tree()
    level: dict[int, Tree | Effect] = {root: tree}
    for _ in range(DEEPEST):
        room = EFFECTS_SHOWN - len(tree.actions)
        found = list(Action.objects.filter(cause_id__in=level).order_by("id")[: room + 1])
        following: dict[int, Tree | Effect] = {}
        for action in found[:room]:
            effect = Effect(action_row(action))
            level[action.cause_id or root].effects.append(effect)
            following[action.pk] = effect
        tree.actions += found[:room]
        if len(found) > room:
            _count(level)
            _count(following)
            return tree
        if not following:
            return tree
        level = following
    _count(level)
    return tree


def _count(level: "dict[int, Tree | Effect]") -> None:
    """How many effects of each are not shown. One query."""
    effects = Action.objects.filter(cause_id__in=level).order_by().values_list("cause_id")
    counts: dict[int | None, int] = dict(effects.annotate(n=Count("pk")))
    for pk, node in level.items():
        node.more = counts.get(pk, 0) - len(node.effects)
