"""What a page asks once."""

from scaling.once import asking_once, fact

asked: list[str] = []


@fact
def answer() -> int:
    asked.append("answer")
    return len(asked)


@fact
def other() -> None:
    asked.append("other")


def test_a_fact_is_read_at_its_first_use_and_kept_until_the_page_is_made() -> None:
    asked.clear()
    assert (answer(), answer()) == (1, 2), "outside of a page each reads anew"
    with asking_once():
        assert not answer.known
        assert (answer(), answer()) == (3, 3)
        assert answer.known
        assert (other(), other()) == (None, None), "nothing is an answer too"
        assert asked[3:] == ["other"]
    assert not answer.known
    with asking_once():
        assert answer() == 5
