"""What a data folder and a database need before the first start: key, tables, roles, the first admin, a cluster."""

import os
import secrets
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import Group as UserGroup
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from redis import Redis, RedisError

from scaling import people
from scaling.management.shell_acts import shell_user
from scaling.models import Installation
from scaling.supervisor.checks import CannotStart

ROLES = ("viewer", "operator", "admin")
ADMIN = "admin"
# 16 of these 31 characters: 79 bits, and none that is read for another.
READABLE = "abcdefghjkmnpqrstuvwxyz23456789"
# Any number that nothing else in the database uses: held while tables and first rows are made.
ADVISORY_LOCK = 0x49524953


def keep_secret_key(folder: Path) -> None:
    """Write the key that this process runs on where the others find it, unless one is there or configured."""
    path = folder / "secret_key"
    if os.environ.get("IRIS_SECRET_KEY") or (path.is_file() and path.read_text().strip()):
        return
    made = folder / f".secret_key.{os.getpid()}"
    with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(settings.SECRET_KEY)
    made.replace(path)


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Of several machines that start on one PostgreSQL, let one prepare it; SQLite has one machine only."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [ADVISORY_LOCK])


def check_database() -> None:
    """One sentence when the database does not answer."""
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        where = "DATABASE_URL" if os.environ.get("DATABASE_URL") else str(connection.settings_dict["NAME"])
        raise CannotStart(f"The database does not answer ({where}): {_first_line(error)}.") from None


def check_queue() -> None:
    """One sentence when the queue is a Redis server that does not answer."""
    if not settings.BROKER_URL:
        return
    try:
        with Redis.from_url(settings.BROKER_URL, socket_timeout=5) as server:
            server.ping()
    except (RedisError, ValueError) as error:
        raise CannotStart(f"The queue does not answer (IRIS_BROKER_URL): {_first_line(error)}.") from None


def make_tables() -> None:
    """Bring the tables up to this version."""
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        raise CannotStart(f"The database could not be brought up to this version: {_first_line(error)}.") from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


@transaction.atomic
def make_roles() -> None:
    """The user groups that give a role, and this installation's identity."""
    for role in ROLES:
        UserGroup.objects.get_or_create(name=role)
    if not Installation.objects.exists():
        Installation.objects.create(identity=str(uuid.uuid4()))


@transaction.atomic
def make_first_admin() -> str | None:
    """The password of the admin made now; None when somebody may administrate already."""
    if User.objects.filter(is_superuser=True).exists() or User.objects.filter(username=ADMIN).exists():
        return None
    password = "-".join("".join(secrets.choice(READABLE) for _ in range(4)) for _ in range(4))
    admin = User(username=ADMIN, is_superuser=True, is_staff=True)
    people.save_person(shell_user(), admin, ADMIN, password)
    admin.groups.add(UserGroup.objects.get(name=ADMIN))
    return password
