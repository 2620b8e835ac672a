"""Every act by a person or a token.

Each checks its input and the present state, changes what it must where nobody changed it first, writes its Action and
tells the feed, in one transaction; a refusal changes nothing. Roles are the caller's to check: pages and API know who
asks. Times may be given as datetimes, ISO texts or Unix seconds.
"""

from scaling.operations.demand import DEMAND_FIELDS, DEMAND_MEANING, DemandReport, put_demand
from scaling.operations.deployment_fields import EDIT_FIELDS
from scaling.operations.deployments import (
    ORDER_FIELDS,
    edit_deployment,
    forget_absent_deployments,
    pause_deployment,
    resume_deployment,
    scale_deployment,
    wake_deployment,
)
from scaling.operations.errors import (
    Fault,
    InvalidRequest,
    NotFound,
    OperationError,
    OperationRefused,
    StaleVersion,
)
from scaling.operations.group_fields import GROUP_FIELDS, LIMIT_FIELDS, POOL_FIELDS, read_group
from scaling.operations.groups import (
    drain_group,
    is_paused,
    pause_group,
    read_limits,
    resume_group,
    set_group_limits,
    undrain_group,
)
from scaling.operations.heartbeats import HEARTBEAT_FIELDS, heartbeat
from scaling.operations.job_requests import JOB_FIELDS
from scaling.operations.jobs import delete_job, find_job, is_source, put_job
from scaling.operations.markers import acknowledge_marker, clear_marker, hold_marker, unacknowledge_marker
from scaling.operations.notices import (
    CHANNEL_FIELDS,
    acknowledge_notice,
    create_channel,
    remove_channel,
    send_test,
    set_channel,
)
from scaling.operations.platforms import halt, set_platform_mode, unhalt
from scaling.operations.pools import forget_learned_limit, set_quota_pool
from scaling.operations.slices import drain_slice, undrain_slice
from scaling.operations.tokens import TOKEN_FIELDS, create_token, revoke_token

__all__ = [
    "CHANNEL_FIELDS",
    "DEMAND_FIELDS",
    "DEMAND_MEANING",
    "EDIT_FIELDS",
    "GROUP_FIELDS",
    "HEARTBEAT_FIELDS",
    "JOB_FIELDS",
    "LIMIT_FIELDS",
    "ORDER_FIELDS",
    "POOL_FIELDS",
    "TOKEN_FIELDS",
    "DemandReport",
    "Fault",
    "InvalidRequest",
    "NotFound",
    "OperationError",
    "OperationRefused",
    "StaleVersion",
    "acknowledge_marker",
    "acknowledge_notice",
    "clear_marker",
    "create_channel",
    "create_token",
    "delete_job",
    "drain_group",
    "drain_slice",
    "edit_deployment",
    "find_job",
    "forget_absent_deployments",
    "forget_learned_limit",
    "halt",
    "heartbeat",
    "hold_marker",
    "is_paused",
    "is_source",
    "pause_deployment",
    "pause_group",
    "put_demand",
    "put_job",
    "read_group",
    "read_limits",
    "remove_channel",
    "resume_deployment",
    "resume_group",
    "revoke_token",
    "scale_deployment",
    "send_test",
    "set_channel",
    "set_group_limits",
    "set_platform_mode",
    "set_quota_pool",
    "unacknowledge_marker",
    "undrain_group",
    "undrain_slice",
    "unhalt",
    "wake_deployment",
]
