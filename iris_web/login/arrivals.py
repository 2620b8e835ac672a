"""People whom another house has proved: who they are here, and with which role."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from iris_web.login.configured import RoleRule
from iris_web.models import Identity
from scaling import people
from scaling.history import Actor
from scaling.models import ActorKind, Source
from scaling.operations import OperationRefused

logger = logging.getLogger(__name__)

# Whoever has no role here is told nobody's name; the log tells it.
_NOT_THIS_NAME = (
    "Your name cannot be used here: it can be taken for another name, or has characters that mislead. "
    "An admin can sort that out; the log says why."
)


class ArrivalRefused(Exception):
    """Raised where a proved person is not let in; the text is for that person."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """Who came, as the other house says. `words` are what roles are made of (its groups).

    `names_people`: that house's names are the names here, so that it may stand for anyone of that name.
    """

    issuer: str
    subject: str
    name: str
    email: str = ""
    words: Sequence[str] = ()
    names_people: bool = False

    def actor(self) -> Actor:
        """Whose act it is in the history when a person is made or gets another role by this."""
        return Actor(ActorKind.SYSTEM, f"sign-in by {self.issuer}"[:150], Source.PAGE)


def person_of(arrival: Arrival, rule: RoleRule) -> User:
    """The person here, made where the rule lets newcomers in, with the role of the rule; raises ArrivalRefused."""
    try:
        with transaction.atomic():
            user = _known(arrival) or _found_by_name(arrival) or _made(arrival, rule)
    except IntegrityError:
        # The same newcomer at the same moment on another page: that one made the rows.
        found = _known(arrival)
        if found is None:
            raise ArrivalRefused("Two logins came at once. Try again.") from None
        user = found
    if not user.is_active:
        raise ArrivalRefused(f"{user.username} is not active here. An admin can change that.")
    return _with_role(user, arrival, rule)


def _known(arrival: Arrival) -> User | None:
    return User.objects.filter(identities__issuer=arrival.issuer, identities__subject=arrival.subject).first()


def _found_by_name(arrival: Arrival) -> User | None:
    """Someone of that name whom an admin prepared: without a password, and nobody at any house yet."""
    user = User.objects.select_for_update().filter(username=arrival.name).first()
    if user is None:
        return None
    is_prepared = not user.has_usable_password() and not user.identities.exists()
    if not (arrival.names_people or is_prepared):
        raise ArrivalRefused(f"Someone else is named {arrival.name} here. An admin can sort that out.")
    Identity.objects.create(user=user, issuer=arrival.issuer, subject=arrival.subject)
    return user


def _made(arrival: Arrival, rule: RoleRule) -> User:
    user = User(username=arrival.name, email=arrival.email)
    try:
        User._meta.get_field("username").clean(arrival.name, user)
        if arrival.email:
            User._meta.get_field("email").clean(arrival.email, user)
        people.check_person_name(user.username)
    except ValidationError as wrong:
        raise ArrivalRefused(f"Your name cannot be used here. {' '.join(wrong.messages)}") from None
    except OperationRefused as misleading:
        # Escaped: a line of the log must not mislead as the name would.
        named = {"person": ascii(arrival.name)[:300], "issuer": arrival.issuer, "reason": ascii(str(misleading))[:400]}
        logger.warning("newcomer with a misleading name refused", extra=named)
        raise ArrivalRefused(_NOT_THIS_NAME) from None
    people.save_person(arrival.actor(), user, rule.role_of(arrival.words) or rule.new_users)
    Identity.objects.create(user=user, issuer=arrival.issuer, subject=arrival.subject)
    logger.info("person came by sign-in", extra={"person": user.username, "issuer": arrival.issuer})
    return user


def _with_role(user: User, arrival: Arrival, rule: RoleRule) -> User:
    """The role that the other house's words stand for; without such words in use, roles stay as they are."""
    role = rule.role_of(arrival.words) or rule.new_users
    if not rule.roles or role == people.role_name(user):
        return user
    try:
        return people.save_person(arrival.actor(), user, role)
    except OperationRefused as refused:
        logger.warning("role kept", extra={"person": user.username, "role": role, "reason": str(refused)})
        return user
