"""The full-text index of actions: a table of SQLite's FTS5 kept by triggers, a generated tsvector with GIN elsewhere.

Both cut the words of ordinary names the same way: a word is a run of letters and digits in lower case, so `v5p-64` is
the two words `v5p` and `64` beside each other. They may differ, as the databases' own tables of signs do, in letters
whose lower case is disputed (`İ`), accents stored as signs of their own, and numbers that are no digits (`½`).

Indexed are the texts of an action (`TEXTS`), not what was before and after. On SQLite the exact columns are in the
index too, as marks: a word together with any number of filters is then one look-up. Marks begin with a letter of no
alphabet, so nobody finds one by typing.
"""

from django.db.backends.base.base import BaseDatabaseWrapper

from scaling.models import ROUTINE_KINDS

TABLE = "scaling_action"
INDEX = "scaling_action_words"
TEXTS = ("kind", "actor", "source", "group", "slice", "job", "target", "reason", "outcome")
# A longer reason is found by its beginning; PostgreSQL refuses to index more than 1 MB of text.
INDEXED_CHARACTERS = 20_000
# The first sign of a mark: of the private use area, which FTS5 takes for a letter and people do not write.
SIGN = "\ue000"
# The next letter of the mark of a column's value.
MARKS = {"kind": "k", "outcome": "o", "actor": "a", "actor_kind": "y", "source": "f", "group": "g", "slice": "s",
         "job": "j", "target": "t"}  # fmt: skip
NOT_ROUTINE, BY_PEOPLE = f"{SIGN}zn", f"{SIGN}zp"
_ROUTINE_SQL = ", ".join(f"'{kind}'" for kind in ROUTINE_KINDS)
# With the kinds as literals: a partial index is only used where its condition is met word for word.
ROUTINE_SQL = f"kind IN ({_ROUTINE_SQL})"
NOT_ROUTINE_SQL = f"NOT ({ROUTINE_SQL})"
BY_PEOPLE_SQL = "NOT (actor_kind = 'system')"


def mark(column: str, value: str) -> str:
    """The word that stands for an exact value in the index."""
    return f"{SIGN}{MARKS[column]}{value.encode().hex()}"


def normal(text_sql: str) -> str:
    """SQL for a text as words with blanks between, on PostgreSQL."""
    return f"regexp_replace(lower({text_sql}), '[^[:alnum:]]+', ' ', 'g')"


def install(connection: BaseDatabaseWrapper) -> None:
    """Make the index and fill it with what is stored."""
    statements = _postgresql() if connection.vendor == "postgresql" else _sqlite()
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def uninstall(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"ALTER TABLE {TABLE} DROP COLUMN words")
            return
        for statement in (f"TRIGGER {INDEX}_add", f"TRIGGER {INDEX}_remove", f"TABLE {INDEX}"):
            cursor.execute(f"DROP {statement}")


def _text(row: str = "") -> str:
    columns = [f'{row}"{name}"' for name in TEXTS]
    columns[TEXTS.index("reason")] = f"substr({row}reason, 1, {INDEXED_CHARACTERS})"
    return " || ' ' || ".join(columns)


def _postgresql() -> list[str]:
    return [
        f"ALTER TABLE {TABLE} ADD COLUMN words tsvector "
        f"GENERATED ALWAYS AS (to_tsvector('simple', {normal(_text())})) STORED",
        *postgresql_indexes(),
    ]


def postgresql_indexes() -> list[str]:
    """One of the routine rows and one of the others: what is asked without routine never meets its many rows."""
    return [
        f"CREATE INDEX {INDEX}{name} ON {TABLE} USING gin (words) WITH (fastupdate = off) WHERE {condition}"
        for name, condition in (("", NOT_ROUTINE_SQL), ("_routine", ROUTINE_SQL))
    ]


def _marks(row: str) -> str:
    found = [
        f"CASE WHEN {row}\"{column}\" = '' THEN '' ELSE '{SIGN}{letter}' || hex({row}\"{column}\") END"
        for column, letter in MARKS.items()
    ]
    found.append(f"CASE WHEN {row}kind IN ({_ROUTINE_SQL}) THEN '' ELSE '{NOT_ROUTINE}' END")
    found.append(f"CASE WHEN {row}actor_kind = 'system' THEN '' ELSE '{BY_PEOPLE}' END")
    return " || ' ' || ".join(found)


def _all(row: str) -> str:
    return f"{_text(row)} || ' ' || {_marks(row)}"


def _sqlite() -> list[str]:
    """The index holds no text of its own; to take a row out, it must be told again what it was."""
    return [
        f"CREATE VIRTUAL TABLE {INDEX} USING fts5(words, content='', prefix='2 3 4', "
        "tokenize='unicode61 remove_diacritics 0')",
        f"CREATE TRIGGER {INDEX}_add AFTER INSERT ON {TABLE} BEGIN INSERT INTO {INDEX} (rowid, words) "  # noqa: S608
        f"VALUES (NEW.id, {_all('NEW.')}); END",
        f"CREATE TRIGGER {INDEX}_remove AFTER DELETE ON {TABLE} BEGIN INSERT INTO {INDEX} ({INDEX}, rowid, words) "  # noqa: S608
        f"VALUES ('delete', OLD.id, {_all('OLD.')}); END",
        f"INSERT INTO {INDEX} (rowid, words) SELECT id, {_all('')} FROM {TABLE} ORDER BY id",  # noqa: S608
    ]
