"""People and their roles: each change is an Action, and the last admin can't be locked out."""

from collections.abc import Mapping
from typing import Any

from axes.utils import reset
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group as RoleGroup
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from scaling import clock
from scaling.history import Actor, record
from scaling.models import Action, ApiToken
from scaling.operations import OperationRefused, StaleVersion
from scaling.operations.names import check_free, lock_names
from scaling.operations.telling import told

# The three roles of a person, from the least to the most; each is a Django group of that name.
ROLES = ("viewer", "operator", "admin")
CREATE_USER, SET_USER, UNLOCK_USER = "create_user", "set_user", "unlock_user"


def role_name(user: User) -> str:
    """The person's role, "" for none; a superuser is an admin."""
    if user.is_superuser:
        return "admin"
    names = set(user.groups.values_list("name", flat=True)) if user.pk else set()
    return next((role for role in reversed(ROLES) if role in names), "")


def check_admin_left(user: User, role: str, is_active: bool) -> None:
    """Refuse what would leave nobody to let others in; raises OperationRefused."""
    if role == "admin" and is_active:
        return
    admins = get_user_model().objects.filter(Q(is_superuser=True) | Q(groups__name="admin"), is_active=True)
    if user.pk and admins.filter(pk=user.pk).exists() and not admins.exclude(pk=user.pk).exists():
        raise OperationRefused("the last admin must stay an active admin; make another one first", "role")


def check_person_name(name: str, pk: int | None = None) -> None:
    """Refuse a new name that can be taken for another; raises OperationRefused. The name that `pk` has may stay."""
    taken = dict(User.objects.values_list("pk", "username"))
    if pk is not None and taken.pop(pk, None) == name:
        return
    try:
        check_free(name, taken.values(), ApiToken.objects.values_list("name", flat=True))
    except ValueError as misleading:
        raise OperationRefused(str(misleading), "username") from None


@transaction.atomic
def save_person(actor: Actor, user: User, role: str, password: str = "", seen: Mapping[str, Any] | None = None) -> User:
    """Store a person with one role, and a new password where one is given. `user` holds the new name, email, state.

    `seen` is what was told of the person (`told_of`) when the change was begun. Raises StaleVersion where that holds no
    more, OperationRefused for a misleading name (see `check_person_name`) and for the last admin's role.
    """
    # One change of roles at a time: of two last admins, each could else be made another role by the other.
    lock_names()
    stored = User.objects.select_for_update().filter(pk=user.pk).first() if user.pk else None
    before = told_of(stored) if stored else None
    if stored and seen is not None and before != seen:
        raise StaleVersion(changed_words(stored), stored)
    if stored is None or stored.username != user.username:
        check_person_name(user.username, user.pk)
    check_admin_left(user, role, user.is_active)
    if password:
        user.set_password(password)
    elif stored is None:
        user.set_unusable_password()
    else:
        # Whatever a form has made of it, and whoever changed it meanwhile.
        user.password = stored.password
    if role != "admin":
        user.is_superuser = False
    user.save()
    others = RoleGroup.objects.filter(name__in=[name for name in ROLES if name != role])
    user.groups.remove(*others)
    if role and not user.is_superuser:
        user.groups.add(RoleGroup.objects.get_or_create(name=role)[0])
    after = told_of(user) | ({"password": "changed"} if password and stored else {})
    _record(actor, user, before, after)
    return user


@transaction.atomic
def set_password(actor: Actor, user: User, password: str) -> None:
    """Give a person another password, and nothing else; their sessions end with it."""
    user.set_password(password)
    user.save(update_fields=["password"])
    _record(actor, user, {}, {"password": "changed"})


@transaction.atomic
def unlock(actor: Actor, user: User) -> None:
    """Forget a person's wrong passwords, from every address; raises OperationRefused where there are none."""
    if not reset(username=user.username):
        raise OperationRefused(f"{user.username} gave no wrong password lately", "username")
    record(UNLOCK_USER, actor=actor, target=f"user {user.username}"[:200])


def told_of(user: User) -> dict[str, Any]:
    """What an edit of a person changes, but for the password."""
    return {"name": user.username, "email": user.email, "role": role_name(user), "is_active": user.is_active}


def changed_words(user: User) -> str:
    """That a stored person has changed, and who did what last. No stop at its end."""
    acts = Action.objects.filter(target=f"user {user.username}"[:200], kind__in=(CREATE_USER, SET_USER))
    last = acts.order_by("-id").first()
    return f"{user.username} has changed since this form was opened: {told(last, clock.now()) if last else 'by others'}"


def _record(actor: Actor, user: User, before: dict[str, Any] | None, after: dict[str, Any]) -> None:
    if before is not None:
        changed = {name for name in after if before.get(name) != after[name]}
        before = {name: before[name] for name in before if name in changed}
        after = {name: after[name] for name in after if name in changed}
    if after:
        kind = CREATE_USER if before is None else SET_USER
        record(kind, actor=actor, target=f"user {user.username}"[:200], before=before, after=after)
