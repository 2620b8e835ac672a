"""Who has acted: the names that the history knows, from one end of their index to the other."""

from django.db import connection

from scaling.audit.index import TABLE

# Each step seeks the next name in the index, past all the acts of the one before.
_NAMES = f"""
    WITH RECURSIVE known(actor) AS (
        SELECT min(actor) FROM {TABLE}
        UNION ALL
        SELECT (SELECT min(actor) FROM {TABLE} WHERE actor > known.actor) FROM known WHERE known.actor IS NOT NULL
    )
    SELECT actor FROM known WHERE actor > '' LIMIT %s
"""  # noqa: S608 - the name of a table


def known_actors(most: int) -> list[str]:
    """The names of people, tokens and Iris itself that acts are by, in the database's order. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(_NAMES, [most])
        return [name for (name,) in cursor.fetchall()]
