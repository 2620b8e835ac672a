"""Addresses of things with free names: every character that means something in a URL is quoted, slashes too."""

from urllib.parse import quote

from scaling.models import Action, Deployment, Group, Job, Slice

DEPLOYMENTS = "/deployments/"
# The admin's list of what is not paused: there many are chosen and paused with one act.
UNPAUSED_DEPLOYMENTS = "/admin/scaling/deployment/?paused=no"


def _quoted(name: str) -> str:
    return quote(name, safe=":")


def group(of: Group | str) -> str:
    """`/groups/<name>/`; takes a group or its name."""
    return f"/groups/{_quoted(of.name if isinstance(of, Group) else of)}/"


def slice_(of: Slice | str) -> str:
    """The page of a slice is its place on its group's page."""
    return f"/slices/{_quoted(of.name if isinstance(of, Slice) else of)}/"


def job(of: Job | str) -> str:
    """`/demand/<source>:<job_id>/`; a plain id is accepted where it is unique."""
    return f"/demand/{_quoted(of if isinstance(of, str) else f'{of.source}:{of.job_id}')}/"


def deployment(of: Deployment | str) -> str:
    """`/deployments/<id>/`; takes a deployment or its id."""
    return f"/deployments/{_quoted(of.deployment_id if isinstance(of, Deployment) else of)}/"


def target(text: str) -> str:
    """Where the target of an action leads: `deployment <id>` to its page, "" for what has none."""
    kind, _, name = text.partition(" ")
    return deployment(name) if kind == "deployment" and name else ""


def action(of: Action | int) -> str:
    return f"/actions/{of if isinstance(of, int) else of.pk}/"
