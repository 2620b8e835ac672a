"""The API against its own description: whatever comes in, the answer is one that the description tells of.

`IRIS_FUZZ_EXAMPLES` sets how many requests are made to each address; `make fuzz` makes many more than a usual run.
"""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi import checks as openapi_checks

from iris_web.api.openapi import document
from scaling import clock
from scaling.models import QuotaPool
from scaling.testing import builders, sample_deployments
from tests.api.conftest import As

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

EXAMPLES = int(os.environ.get("IRIS_FUZZ_EXAMPLES", "3"))
CHECKS = [
    not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
    openapi_checks.response_headers_conformance,
]
ADDRESSES = [(path, method.upper()) for path, methods in document()["paths"].items() for method in methods]
# What the names in a path may stand for, so that half of the requests reach something.
EXISTING = {
    "source": ["slurm"],
    "job": ["slurm:job", "job"],
    "deployment": ["deployment"],
    "name": ["group", "slice", "slice-0", "pool", "simulated", "viewer-token"],
}

_schema = schemathesis.openapi.from_dict(document())
_schema.app = get_wsgi_application()


@pytest.fixture(autouse=True)
def one_connection() -> Iterator[None]:
    """Requests leave the connection of the test open, for they run inside its transaction."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def one_of_everything(db: None) -> dict[str, list[Any]]:
    """Values of path parameters that exist."""
    now = clock.now()
    builders.make_installation()
    group = builders.make_group("group")
    builders.make_status(group, now)
    builders.make_slice(group, now, name="slice")
    job = builders.make_job(now, "job", source="slurm")
    builders.make_hint(job, now)
    marker = builders.make_marker(group, now)
    action = builders.make_action("scale_up", now, group="group")
    QuotaPool.objects.create(name="pool", limit=8, learned_limit=4, learned_at=now)
    sample_deployments.make_deployment("deployment", now)
    return EXISTING | {"id": [marker.pk, action.pk]}


@pytest.fixture
def secrets(as_role: As) -> list[str]:
    """Mostly an admin's, for the others are turned away early."""
    scoped = {"scheduler": "slurm", "worker": "slice-0"}
    made = {role: as_role(role, scoped.get(role, "")).secret for role in ("admin", "operator", "viewer", *scoped)}
    return [made["admin"]] * 6 + [*made.values(), "", "iris_0123456789ab_unknown"]


@pytest.mark.parametrize(("path", "method"), ADDRESSES, ids=lambda part: part)
@pytest.mark.parametrize("mode", GenerationMode)
def test_every_answer_is_one_of_the_description(
    path: str, method: str, mode: GenerationMode, one_of_everything: dict[str, list[Any]], secrets: list[str]
) -> None:
    operation = _schema[path][method]

    @settings(
        max_examples=EXAMPLES,
        database=None,
        derandomize="IRIS_FUZZ_EXAMPLES" not in os.environ,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), choose=st.data())
    def holds(case: schemathesis.Case, choose: st.DataObject) -> None:
        if choose.draw(st.booleans()):
            for name in case.path_parameters:
                case.path_parameters[name] = choose.draw(st.sampled_from(one_of_everything[name]))
        secret = choose.draw(st.sampled_from(secrets))
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        with transaction.atomic():
            answer = case.call(headers=headers)
            transaction.set_rollback(True)
        is_wrong = case.meta is not None and case.meta.is_negative_at(ParameterLocation.BODY)
        case.validate_response(answer, checks=[*CHECKS, openapi_checks.negative_data_rejection] if is_wrong else CHECKS)

    run: Callable[[], None] = holds
    run()
