"""The words that are sent."""

from scaling.notices.kinds import CONDITIONS
from scaling.notices.messages import Item, MessageKind, compose, place_of, signed, trial

SITE = "https://iris.example"


def items(number: int) -> list[Item]:
    page = "/stockouts/?group=v5-{}"
    return [
        Item("stockout", f"Stock-out: v5-{one}", "Nothing can be bought.", page.format(one)) for one in range(number)
    ]


def test_a_few_are_told_one_by_one_with_a_link() -> None:
    told = compose(MessageKind.NEW, items(3), SITE, one_by_one=3)
    assert [one.title for one in told] == ["Stock-out: v5-0", "Stock-out: v5-1", "Stock-out: v5-2"]
    assert told[0].body == "Nothing can be bought.\nhttps://iris.example/stockouts/?group=v5-0"


def test_many_are_one_message_that_names_the_first_twenty() -> None:
    [told] = compose(MessageKind.OVER, items(23), SITE, one_by_one=3)
    assert told.title == "23 notices are over"
    lines = told.body.splitlines()
    assert lines[:2] == ["- Over: Stock-out: v5-0", "  Nothing can be bought."]
    assert lines[40:] == ["- and 3 more", "https://iris.example/stockouts/"]


def test_told_together_each_still_says_in_short_what_is_wrong() -> None:
    long = Item("stockout", "Stock-out: v5", "The platform says:\nno capacity " + "x" * 999, "/stockouts/")
    [told] = compose(MessageKind.NEW, [long, *items(1)], SITE, one_by_one=1)
    lines = told.body.splitlines()
    assert lines[1].startswith("  The platform says: no capacity xxx") and len(lines[1]) == 242
    assert lines[1].endswith("…") and lines[2:4] == ["- Stock-out: v5-0", "  Nothing can be bought."]


def test_without_a_site_it_says_where_to_look_in_place_of_a_link() -> None:
    [told] = compose(MessageKind.AGAIN, items(1), "", one_by_one=3)
    assert told.title == "Still: Stock-out: v5-0" and told.body.endswith("\nMore in Iris, under Stock-outs, v5-0.")
    [many] = compose(MessageKind.NEW, items(2), "", one_by_one=1)
    assert many.body.splitlines()[-1] == "More in Iris, under Stock-outs." and "/" not in many.body
    assert trial("on-call", "").body.endswith("More in Iris, under Settings, notices.")
    pages = ("/settings/#loops", "/demand/?order=oldest", "/groups/v5%20p/", "/stockouts/?q=a#marker-7", "/")
    places = ["Settings, loops", "Demand", "Groups, v5 p", "Stock-outs", "the overview"]
    assert [place_of(page) for page in pages] == places


def test_every_condition_has_a_page_that_can_be_named() -> None:
    assert "the overview" not in [place_of(condition.page) for condition in CONDITIONS.values()]


def test_a_test_says_that_it_is_one() -> None:
    told = trial("on-call", SITE)
    assert told.title == "Test: this is only a test" and "Nothing is wrong" in told.body and '"on-call"' in told.body


def test_every_message_carries_the_id_it_is_known_by() -> None:
    assert signed("text", "abc123") == "text\nIris notice abc123"
