"""A throwaway Prometheus server that scrapes what a test tells it to."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.error import URLError
from urllib.request import urlopen

from tests.services.programs import find, folder, free_port, running

CONFIG = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: test
    static_configs: [{{targets: [{targets}]}}]
"""


@contextmanager
def prometheus(targets: Sequence[str] = ()) -> Iterator[str]:
    """Yields the URL of a server that scrapes `targets` (`host:port`) each second."""
    server = find("prometheus")
    with folder("iris-prometheus-") as base:
        port = free_port()
        config = base / "prometheus.yml"
        config.write_text(CONFIG.format(targets=", ".join(f'"{target}"' for target in targets)))
        url = f"http://127.0.0.1:{port}"
        command = [server, f"--config.file={config}", f"--storage.tsdb.path={base / 'data'}"]
        command += [f"--web.listen-address=127.0.0.1:{port}"]
        with running("Prometheus", command, base / "log", lambda: _ready(url), 30):
            yield url


def _ready(url: str) -> bool:
    try:
        with urlopen(f"{url}/-/ready", timeout=1) as answer:
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False
