"""`manage.py ticker`: hands the rounds of the loops to the queue, until it is told to stop."""

import signal
from typing import Any

from django.core.management.base import BaseCommand

from scaling.loops.ticker import Ticker
from scaling.stopping import StopRequest


class Command(BaseCommand):
    help = "Hands each loop's round to the task queue when it is due. Several may run; each round is queued once."

    def handle(self, *args: Any, **options: Any) -> None:
        with StopRequest().on_signals(signal.SIGINT, signal.SIGTERM) as stop:
            Ticker().run(stop)
