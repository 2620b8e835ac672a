"""Commands start with what they need alone; what Django would check at each start is checked here."""

import subprocess
import sys

import pytest
from django.conf import settings
from django.core.management import call_command

START = """
import sys
import django

django.setup()
"""
# A command of each kind.
LOADED = f"""{START}
from importlib import import_module

for name in ("ticker", "status", "drain", "set_limits"):
    import_module(f"scaling.management.commands.{{name}}")
web = ("iris_web.pages", "iris_web.urls", "scaling.admin")
print(*sorted({{name for name in sys.modules if name.startswith(web)}}))
"""
REGISTERED = f"""{START}
import {{first}}
import iris_web.urls
from django.contrib import admin

print(*sorted(model._meta.label for model in admin.site._registry))
"""


def python(code: str) -> list[str]:
    """The words that a new process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=60,
        env={"DJANGO_SETTINGS_MODULE": "iris_web.settings", "IRIS_STATE_DIR": str(settings.STATE_DIR)},
        check=True,
    )
    return done.stdout.split()


def test_django_finds_nothing_amiss_in_the_code() -> None:
    call_command("check", fail_level="WARNING")


def test_a_process_that_answers_no_pages_loads_none() -> None:
    assert python(LOADED) == []


@pytest.mark.parametrize("first", ["iris_web.urls", "scaling.admin", "scaling.admin.users", "django_q.admin"])
def test_whatever_is_imported_first_the_admin_has_people_and_neither_the_queue_nor_roles(first: str) -> None:
    found = python(REGISTERED.format(first=first))
    assert "auth.User" in found and "auth.Group" not in found
    assert not [label for label in found if label.startswith("django_q.")]
