"""Clients of the API with a token of each role."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from scaling import operations
from scaling.history import Actor

BASE = "/api/v1"


@dataclass(frozen=True, slots=True)
class Api:
    """Calls below /api/v1 with one token ("" = none). `call` gives the status and what was answered."""

    secret: str
    client: Client

    def raw(self, method: str, path: str, content: Any = None, **more: Any) -> HttpResponse:
        headers = {"Authorization": f"Bearer {self.secret}"} if self.secret else {}
        headers |= more.pop("headers", {})
        if content is not None:
            more.setdefault("content_type", "application/json")
            more["data"] = content
        return self.client.generic(method, BASE + path, headers=headers, **self._encoded(more))  # type: ignore[return-value]

    @staticmethod
    def _encoded(more: dict[str, Any]) -> dict[str, Any]:
        import json

        data = more.get("data")
        return more if data is None or isinstance(data, str | bytes) else more | {"data": json.dumps(data)}

    def call(self, method: str, path: str, content: Any = None, **more: Any) -> tuple[int, Any]:
        answer = self.raw(method, path, content, **more)
        return answer.status_code, answer.json() if answer.content else None  # type: ignore[attr-defined]

    def get(self, path: str) -> tuple[int, Any]:
        return self.call("GET", path)

    def post(self, path: str, content: Any = None) -> tuple[int, Any]:
        return self.call("POST", path, content)

    def put(self, path: str, content: Any = None) -> tuple[int, Any]:
        return self.call("PUT", path, content)


As = Callable[..., Api]


@pytest.fixture
def as_role(db: None) -> As:
    """`as_role("operator")`, `as_role("scheduler", "slurm")`, `as_role("")` without a token."""
    made = Actor.user("root")

    def client(role: str, scope: str = "") -> Api:
        if not role:
            return Api("", Client())
        _, secret = operations.create_token(made, f"{role}-{scope or 'token'}", role, scope)
        return Api(secret, Client())

    return client


@pytest.fixture
def viewer(as_role: As) -> Api:
    return as_role("viewer")


@pytest.fixture
def operator(as_role: As) -> Api:
    return as_role("operator")


@pytest.fixture
def admin(as_role: As) -> Api:
    return as_role("admin")


@pytest.fixture
def scheduler(as_role: As) -> Api:
    """Confined to the source `slurm`."""
    return as_role("scheduler", "slurm")


@pytest.fixture
def worker(as_role: As) -> Api:
    """Confined to the worker `s1-0`."""
    return as_role("worker", "s1-0")


@pytest.fixture
def anonymous(as_role: As) -> Api:
    return as_role("")
