"""Which secret may sign sessions and queued tasks in production."""

SHORTEST = 32
FEWEST_KINDS = 8
HOW_TO_MAKE_ONE = "python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"


def check(key: str) -> None:
    """ValueError in one sentence, without the key, for one that could be guessed.

    Whoever guesses it may forge sessions, and tasks that the queue runs. 32 characters by chance are beyond guessing;
    `openssl rand -hex 32` has 16 different characters at most, so eight of them tell chance from a word written again.
    """
    if len(key) < SHORTEST or len(set(key)) < FEWEST_KINDS:
        raise ValueError(
            f"expected at least {SHORTEST} characters, {FEWEST_KINDS} of them different, when IRIS_PRODUCTION=1; "
            f"one is made by {HOW_TO_MAKE_ONE}"
        )
