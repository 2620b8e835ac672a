"""Django's SQLite, as `ENGINE` names it, with a quicker way to read times."""
