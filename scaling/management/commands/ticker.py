"""`manage.py ticker`: hands the rounds of the loops to the queue, until it is told to stop."""

import signal
from typing import Any

from django.conf import settings

from scaling.loops.status_server import serving
from scaling.loops.ticker import Ticker
from scaling.management.base import IrisCommand
from scaling.notices.watchman import watching
from scaling.stopping import StopRequest


class Command(IrisCommand):
    help = "Hands each loop's round to the task queue when it is due. Several may run; each round is queued once."

    def handle(self, *args: Any, **options: Any) -> None:
        # A process that waits may be asked how it is.
        address = settings.LYC.http_address if settings.LYC.enabled else None
        with StopRequest().on_signals(signal.SIGINT, signal.SIGTERM) as stop, serving(address), watching():
            Ticker().run(stop)
