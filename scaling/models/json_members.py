"""Members of a stored JSON object in SQL, and as columns of their own that the database itself keeps.

SQLite computes a row's stored columns at every update, also of other columns, so only what every look at a list counts
is one: what a list is now and then sorted by is taken out of the object then.
"""

from typing import Any

from django.db.models import F, Field, Func, GeneratedField
from django.utils.deconstruct import deconstructible


@deconstructible
class Member(Func):
    """A member of a JSON column as plain SQL; NULL where it is null or missing."""

    def __init__(self, column: str, name: str, output_field: "Field[Any, Any]") -> None:
        super().__init__(F(column), output_field=output_field)
        self.extra["name"] = name

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        return self.as_sql(compiler, connection, template="JSON_EXTRACT(%(expressions)s, '$.%(name)s')", **more)

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        kind = self.output_field.db_type(connection)
        return self.as_sql(compiler, connection, template=f"(%(expressions)s ->> '%(name)s')::{kind}", **more)


def member(column: str, name: str, kind: "Field[Any, Any]") -> GeneratedField:
    """A stored column that always is the member `name` of the JSON object in `column`."""
    return GeneratedField(expression=Member(column, name, kind), output_field=kind, db_persist=True)
