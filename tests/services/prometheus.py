"""Throwaway Prometheus servers that scrape what a test tells them to."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import Popen
from urllib.error import URLError
from urllib.request import urlopen

from tests.services.programs import find, folder, free_port, running

CONFIG = """\
global: {{scrape_interval: {every}, scrape_timeout: {every}}}
scrape_configs:
  - job_name: test
    static_configs: [{{targets: [{targets}]}}]
"""


class PrometheusServer:
    """A server on one port with one folder; it may be killed and started again."""

    def __init__(self, base: Path, targets: Sequence[str], every: str, flags: Sequence[str]) -> None:
        port = free_port()
        config = base / "prometheus.yml"
        config.write_text(CONFIG.format(every=every, targets=", ".join(f'"{target}"' for target in targets)))
        self.url = f"http://127.0.0.1:{port}"
        self._log = base / "log"
        self._command = [find("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={base / 'data'}"]
        self._command += [f"--web.listen-address=127.0.0.1:{port}", *flags]
        self._running = ExitStack()
        self._process: Popen[bytes] | None = None

    def start(self) -> None:
        """Returns when it is ready."""
        service = running("Prometheus", self._command, self._log, lambda: is_ready(self.url), 30)
        self._process = self._running.enter_context(service)

    def kill(self) -> None:
        """At once, as a machine's end would."""
        if self._process:
            self._process.kill()
            self._process.wait()

    def stop(self) -> None:
        self._running.close()


@contextmanager
def prometheus_server(
    targets: Sequence[str] = (), every: str = "1s", flags: Sequence[str] = ()
) -> Iterator[PrometheusServer]:
    """Yields a server that scrapes `targets` (`host:port`); `every` and `flags` as Prometheus writes them."""
    with folder("iris-prometheus-") as base:
        server = PrometheusServer(base, targets, every, flags)
        try:
            server.start()
            yield server
        finally:
            server.stop()


@contextmanager
def prometheus(targets: Sequence[str] = ()) -> Iterator[str]:
    """Yields the URL of a server that scrapes `targets` (`host:port`) each second."""
    with prometheus_server(targets) as server:
        yield server.url


def is_ready(url: str) -> bool:
    """Whether a Prometheus there has begun to answer."""
    try:
        with urlopen(f"{url}/-/ready", timeout=1) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False
