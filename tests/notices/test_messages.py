"""The words that are sent."""

from scaling.notices.messages import Item, MessageKind, compose, signed, trial

SITE = "https://iris.example"


def items(number: int) -> list[Item]:
    return [Item("stockout", f"Stock-out: v5-{one}", "Nothing can be bought.", "/stockouts/") for one in range(number)]


def test_a_few_are_told_one_by_one_with_a_link() -> None:
    told = compose(MessageKind.NEW, items(3), SITE, one_by_one=3)
    assert [one.title for one in told] == ["Stock-out: v5-0", "Stock-out: v5-1", "Stock-out: v5-2"]
    assert told[0].body == "Nothing can be bought.\nhttps://iris.example/stockouts/"


def test_many_are_one_message_that_names_the_first_twenty() -> None:
    [told] = compose(MessageKind.OVER, items(23), SITE, one_by_one=3)
    assert told.title == "23 notices are over"
    lines = told.body.splitlines()
    assert lines[0] == "- Over: Stock-out: v5-0" and lines[20] == "- and 3 more"
    assert lines[21:] == ["https://iris.example/stockouts/"]


def test_without_a_site_the_link_is_a_path() -> None:
    [told] = compose(MessageKind.AGAIN, items(1), "", one_by_one=3)
    assert told.title == "Still: Stock-out: v5-0" and told.body.endswith("\n/stockouts/")


def test_a_test_says_that_it_is_one() -> None:
    told = trial("on-call", SITE)
    assert told.title == "Test: this is only a test" and "Nothing is wrong" in told.body and '"on-call"' in told.body


def test_every_message_carries_the_id_it_is_known_by() -> None:
    assert signed("text", "abc123") == "text\nIris notice abc123"
