"""What is stored, one module per noun."""

from scaling.models.actions import ROUTINE_KINDS, Action, ActorKind, Source
from scaling.models.audit import ArchivePass, Seal, SealHead
from scaling.models.cycles import Cycle, GroupMemory, GroupSample, GroupStatus
from scaling.models.deployments import (
    CrashedReplica,
    Deployment,
    DeploymentSample,
    Instance,
    PauseDirection,
    ReplicaDecision,
    Scaler,
    SourceState,
)
from scaling.models.events import Event
from scaling.models.groups import Group
from scaling.models.hints import Hint
from scaling.models.installation import Heartbeat, Installation
from scaling.models.jobs import Job, Task
from scaling.models.leases import Lease, Loop
from scaling.models.markers import Marker
from scaling.models.notices import Notice, NoticeChannel, NoticeDelivery, NoticeTelling
from scaling.models.platforms import Platform
from scaling.models.pools import QuotaPool
from scaling.models.slices import Orphan, Slice, Worker
from scaling.models.tokens import ApiToken

__all__ = [
    "ROUTINE_KINDS",
    "Action",
    "ActorKind",
    "ApiToken",
    "ArchivePass",
    "CrashedReplica",
    "Cycle",
    "Deployment",
    "DeploymentSample",
    "Event",
    "Group",
    "GroupMemory",
    "GroupSample",
    "GroupStatus",
    "Heartbeat",
    "Hint",
    "Installation",
    "Instance",
    "Job",
    "Lease",
    "Loop",
    "Marker",
    "Notice",
    "NoticeChannel",
    "NoticeDelivery",
    "NoticeTelling",
    "Orphan",
    "PauseDirection",
    "Platform",
    "QuotaPool",
    "ReplicaDecision",
    "Scaler",
    "Seal",
    "SealHead",
    "Slice",
    "Source",
    "SourceState",
    "Task",
    "Worker",
]
