"""Where the Gateway is and how it is spoken to."""

from dataclasses import dataclass
from urllib.parse import quote, urlsplit

LIST_PATH = "/api/v2/external/inference/list"
REPLICAS_PATH = "/api/v2/external/inference/{id}/replicas"
SCALE_PATH = "/api/v2/internal/inference/scale"
TOKEN_VARIABLE = "DEPLOYMENT_SCALER_SERVICE_TOKEN"  # noqa: S105 - a variable's name
ADDRESS_VARIABLE = "API_BASE_URL"
MEBIBYTE = 2**20


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """One Gateway; raises ValueError, one sentence, for settings that cannot work.

    `timeout_seconds` bounds each call as a whole, `max_concurrent` how many are under way together,
    `max_body_bytes` how much of one answer is read. `{id}` in `replicas_path` stands for the deployment.
    """

    base_url: str
    token: str
    timeout_seconds: float = 30
    replicas_path: str = REPLICAS_PATH
    max_concurrent: int = 16
    max_body_bytes: int = 64 * MEBIBYTE

    def __post_init__(self) -> None:
        if not _is_http(self.base_url):
            raise ValueError(
                f"{ADDRESS_VARIABLE}: expected an address such as https://gateway.example, got {self.base_url!r}"
            )
        if not self.token or not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise ValueError(f"{TOKEN_VARIABLE}: expected a token of printable ASCII characters without blanks")
        if "{id}" not in self.replicas_path or not self.replicas_path.startswith("/"):
            raise ValueError(f"replicas_path: expected a path with {{id}} in it, got {self.replicas_path!r}")
        if self.timeout_seconds <= 0 or self.max_concurrent < 1 or self.max_body_bytes < 1:
            raise ValueError("timeout_seconds, max_concurrent and max_body_bytes: expected more than 0")

    def url(self, path: str) -> str:
        """The whole address of a path; a path within `base_url` is kept in front of it."""
        return self.base_url.rstrip("/") + path

    def replicas_url(self, deployment_id: str) -> str:
        return self.url(self.replicas_path.replace("{id}", quote(deployment_id, safe="")))


def _is_http(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
