"""Commands start with what they need alone; what Django would check at each start is checked here."""

import subprocess
import sys

from django.conf import settings
from django.core.management import call_command

LOADED = """
import sys
import django

django.setup()
print(*sorted({name for name in sys.modules if name.startswith(("iris_web.pages", "iris_web.urls", "scaling.admin"))}))
"""


def test_django_finds_nothing_amiss_in_the_code() -> None:
    call_command("check", fail_level="WARNING")


def test_a_process_that_answers_no_pages_loads_none() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=60,
        env={"DJANGO_SETTINGS_MODULE": "iris_web.settings", "PATH": "/usr/bin:/bin"},
        check=True,
    )
    assert done.stdout.split() == []
