"""Who calls the API: a bearer token, its role, and what that role may reach."""

from dataclasses import dataclass

from django.http import HttpRequest

from iris_web.access import Act, Role, may
from iris_web.api.problems import Problem, unauthorized
from scaling import clock, tokens
from scaling.history import Actor
from scaling.models import ActorKind, ApiToken, Source

SCHEDULER = ApiToken.Role.SCHEDULER.value
WORKER = ApiToken.Role.WORKER.value


@dataclass(frozen=True, slots=True)
class Caller:
    """A proved token. `source` and `worker` are what a scoped role is confined to; None = not confined."""

    actor: Actor
    role: str
    source: str | None = None
    worker: str | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """What a route asks of its caller: an act that its role allows, or one of the scoped roles."""

    act: Act
    scoped: str = ""

    def words(self) -> str:
        """The roles that pass, for people."""
        roles = [role.value for role in Role if may(role, self.act)] + ([self.scoped] if self.scoped else [])
        return " or ".join(roles)

    def check(self, caller: Caller) -> None:
        """Raises Problem 403 where the role does not suffice."""
        if caller.role == self.scoped and self.scoped:
            return
        if caller.role in set(Role) and may(Role(caller.role), self.act):
            return
        raise Problem(403, f"this needs a token with the role {self.words()}; yours has the role {caller.role}")


def authenticate(request: HttpRequest) -> Caller:
    """The caller behind the Authorization header; raises Problem 401. Session cookies count for nothing here."""
    return prove(request.headers.get("Authorization", ""))


def prove(header: str) -> Caller:
    """The caller that an Authorization header proves; raises Problem 401."""
    scheme, _, text = header.partition(" ")
    if scheme.lower() != "bearer" or not text.strip():
        raise unauthorized('expected the header "Authorization: Bearer <token>"', presented=bool(header))
    token = tokens.verify(text.strip(), clock.now())
    if token is None:
        raise unauthorized("this token is unknown, revoked or expired", presented=True)
    return Caller(
        actor=Actor(ActorKind.TOKEN, token.name, Source.API),
        role=token.role,
        source=token.scope if token.role == SCHEDULER else None,
        worker=token.scope if token.role == WORKER else None,
    )


def confine(allowed: str | None, asked: str, what: str) -> None:
    """Raises Problem 403 where a scoped token reaches for another's."""
    if allowed is not None and allowed != asked:
        raise Problem(403, f'this token is confined to the {what} "{allowed}"')
