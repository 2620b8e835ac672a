"""The table that turns a cloud's words into one of four classes: read from the top, the first row that fits decides.

How to read and extend it. A phrase is matched against the error's *plain words*: lower case, `VcpuLimitExceeded` and
`VCPU_LIMIT_EXCEEDED` both read as `vcpu limit exceeded`, `didn't` as `did not`, no punctuation, resource paths and
addresses removed. In a phrase

* `(a|b)` is either word, `(a )?` an optional one, `word*` any word that begins so;
* `...` is up to eight words between, within one sentence.

Put a new row where its neighbours in meaning stand, and say why. A row holds a meaning that several clouds share, never
one message. Numbers such as 403, 429 or 500 and codes such as RESOURCE_EXHAUSTED mean different things in different
services, so no row uses them.

Sources of the vocabulary: the published error code lists of EC2, Azure Resource Manager and Compute, Compute Engine,
Cloud TPU, GKE, OCI, Lambda, RunPod, Hetzner, DigitalOcean, OpenStack, Alibaba ECS, Tencent CVM, Kubernetes, Kueue,
Karpenter and Slurm.
"""

from dataclasses import dataclass
from enum import StrEnum


class FailureClass(StrEnum):
    """What a refused create means for its group."""

    STOCKOUT = "stockout"
    TRANSIENT = "transient"
    QUOTA = "quota"
    PERMANENT = "permanent"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: if any phrase is in the words, the error means this."""

    failure_class: FailureClass
    meaning: str
    why: str
    phrases: tuple[str, ...]
    rate_limited: bool = False
    already_exists: bool = False


_STOCKOUT = FailureClass.STOCKOUT
_TRANSIENT = FailureClass.TRANSIENT
_QUOTA = FailureClass.QUOTA
_PERMANENT = FailureClass.PERMANENT

_TOO_MUCH = "(exceed|exceeds|exceeded|exceeding|reached|exhausted|surpassed|insufficient|full|over)"
_HARDWARE = (
    "(instance|instances|vm|vms|gpu|gpus|tpu|tpus|node|nodes|machine|machines|server(?! error)|servers|host|hosts|hardware|"
    "accelerator|accelerators|droplet|droplets|offer|offers|sku|size|type|types|flavor|plan|inventory|stock|resource|"
    "resources|capacity)"
)

RATE_RULES = (
    Rule(
        _TRANSIENT,
        "calls came too fast",
        "The call is refused, not the machine: the same request works a little later.",
        (
            "throttl*",
            "too many (api )?(requests|calls|queries)",
            "toomanyrequests",
            "rate (is )?(limit*|exceed*)",
            "rate of (requests|calls)",
            "request (rate )?limit exceeded",
            "slow down",
            "flow control",
            "api (call|calls|request|requests) ... (limit|exceed*)",
        ),
        rate_limited=True,
    ),
    Rule(
        _TRANSIENT,
        "a limit per second or minute",
        "A limit that renews itself within a minute is a pace, whatever the message calls it.",
        (
            "per (second|minute|min|sec)",
            "(requests|queries|calls|operations) per (hour|100 seconds|user)",
            "quota metric ... (requests|queries|calls)",
            "(read|write|list|create|mutate|api) (requests|queries|calls) ... " + _TOO_MUCH,
        ),
        rate_limited=True,
    ),
)

EXISTS_RULES = (
    Rule(
        _TRANSIENT,
        "the name is taken",
        "Names are ours and unique, so the thing is there from an earlier try; whoever asked looks at it again.",
        (
            "already exist*",
            "already ... (a|an) ... with (this|that|the same) name",
            "name ... (already )?(used|taken|in use)",
            "duplicate* ... name",
            "uniqueness error",
        ),
        already_exists=True,
    ),
)

STATE_RULES = (
    Rule(
        _TRANSIENT,
        "something is on its way and will be there soon",
        "An account under verification, a reservation being made, a machine between two states: waiting is the cure.",
        (
            "while ... in (the )?state",
            "(being|is being|still being) (verified|validated|created|processed|provisioned|deleted|updated)",
            "pending verification",
            "requires ... to be in ... state",
            "in status creating",
            "(operation|request|change) ... (already )?in progress",
            "not (yet )?ready",
            "incorrect ... state",
            "conflict* (operation|request)",
        ),
    ),
    Rule(
        _TRANSIENT,
        "a node is unwell for the moment",
        "Kubernetes marks nodes that it cannot reach or that are starting; the mark goes away by itself.",
        ("taint ... (unreachable|not ready|uninitialized|out of service|pressure|network unavailable)",),
    ),
)

QUOTA_RULES = (
    Rule(
        _PERMANENT,
        "the request lacks what a quota demands",
        "Kubernetes refuses a pod that states no amounts where a quota counts them: the request is wrong.",
        ("failed quota ... must specify", "must specify (limits|requests|cpu|memory)"),
    ),
    Rule(
        _QUOTA,
        "a quota is used up or too small",
        "The account may not have more; another account or a person changes that, time rarely does.",
        (
            f"quota ... {_TOO_MUCH}",
            f"{_TOO_MUCH} ... quota*",
            "over quota",
            "quota (failure|limit|error)",
            "quota allows",
            "(insufficient|not enough|no) ... quota",
            "exceed* ... allowed maximum",
        ),
    ),
    Rule(
        _QUOTA,
        "a limit of the account, service or project is reached",
        "The same thing under the name limit: vCPU limit, droplet limit, service limit, instance count.",
        (
            f"(account|service|instance|instances|vcpu|vcpus|cpu|core|cores|gpu|gpus|droplet|server|servers|resource|"
            f"resources|project|subscription|node|nodes|linode|fleet|volume|disk|spot|count|spend|spending|user|usage) "
            f"(count )?limit* ... {_TOO_MUCH}",
            f"{_TOO_MUCH} ... (your|account|service|instance|vcpu|core|gpu|server|resource|project|spend*) ... limit*",
            "limit exceeded",
            "limit (has been |was |is )?reached",
            "more ... than your current ... limit",
            "max ... (count|number) ... exceed*",
            "max* ... (size|number|limit) ... reached",
            "reached ... (maximum|max) ... (number|allowed)",
        ),
    ),
    Rule(
        _QUOTA,
        "the network has no addresses left",
        "Addresses are an allowance of the account's own network, not hardware of the zone.",
        (
            "(insufficient|not enough|no|not have enough) ... (free |available )?(ip|ips|address|addresses)",
            "ip* (space|address|addresses) ... exhausted",
            "not ... enough ... (ip|ips|address|addresses)",
        ),
    ),
)

STOCKOUT_RULES = (
    Rule(
        _STOCKOUT,
        "the zone has no such hardware left",
        "The cloud would sell it and has none: another zone or a later hour helps.",
        (
            "stockout*",
            "(out of|no) stock",
            "sold out",
            "out of ... (capacity|resources)",
            "(insufficient|not enough|no more|no|lack of|limited|low) ... (capacity|inventory|hardware)",
            "not ... (enough|sufficient) ... capacity",
            "not ... (enough|sufficient) resources",
            "(insufficient|not enough) (resource|resources)",
            "resource pool exhausted",
            "capacity ... (not available|unavailable|exhausted|not enough|insufficient)",
            "unfulfillable capacity",
            "unable to fulfill ... capacity",
            "allocation (failed|failure)",
            "overconstrained ... allocation",
        ),
    ),
    Rule(
        _STOCKOUT,
        "this kind of machine cannot be had at the moment",
        "Said of hardware, unavailable means sold out; said of a service (further down) it means broken.",
        (
            f"no (longer )?(any |more )?(available )?{_HARDWARE} ... available",
            f"no available {_HARDWARE}",
            f"no ... {_HARDWARE} (are |is )?(currently )?(available|left|free)",
            f"{_HARDWARE} ... (not|no longer) (currently |longer )?available",
            f"{_HARDWARE} ... (currently |temporarily )?unavailable",
            "not available in (zone|region|location|this)",
            "not have available resources",
            "no valid host",
            "not available ... in (us|eu|europe|asia)",
            "resource unavailable",
            "placement error",
            "sales ... suspended",
            "insufficient (nvidia|amd|google|cpu|memory)",
        ),
    ),
    Rule(
        _STOCKOUT,
        "not all machines of one request could be had",
        "All-or-nothing requests fail as a whole when the zone has only some of them.",
        ("min* count ... not (be )?(reached|created|met)", "requested minimum count"),
    ),
)

PERMANENT_RULES = (
    Rule(
        _PERMANENT,
        "no right to do this",
        "Only a person can grant a role, a scope, a key or an account.",
        (
            "not (been )?authori*",
            "not have (authori*|permission*|access|tpu access)",
            "unauthori*",
            "authori* fail*",
            "auth* (failed|failure|error|required)",
            "permission* denied",
            "required ... permission*",
            "(insufficient|missing|lacks|no) ... (permission*|scope*|privilege*|access)",
            "access ... denied",
            "forbidden",
            "invalid ... (key|token|credential*|signature)",
            "(key|token|credential*) ... (invalid|expired)",
        ),
    ),
    Rule(
        _PERMANENT,
        "the account cannot buy",
        "A disabled service, an unpaid bill or a trial account stays so until a person acts.",
        (
            "disabled",
            "not (been )?(enabled|activated)",
            "has not been used",
            "free (trial|tier)",
            "billing",
            "payment",
            "insufficient (funds|balance|credit*)",
            "account ... (suspended|blocked|locked)",
            "suspended",
        ),
    ),
    Rule(
        _PERMANENT,
        "what was asked for does not exist",
        "A missing image, network, type or zone stays missing until the group is edited.",
        (
            "not (be )?found",
            "not exist",
            "no such",
            "unknown (zone|region|image|type|instance*|field|machine)",
            "must exist",
            "not have known values",
            "not a valid",
        ),
    ),
    Rule(
        _PERMANENT,
        "this cannot be built that way",
        "A combination the cloud does not offer is refused every time.",
        (
            "not support*",
            "unsupported",
            "not (eligible|offered|compatible|allowed|permitted)",
            "incompatible",
            "wrong region",
            "at most ... can be used",
            "can not be (smaller|larger|used)",
        ),
    ),
    Rule(
        _PERMANENT,
        "the request is malformed",
        "The same request will be refused the same way.",
        (
            "invalid*",
            "malformed",
            "unable to parse",
            "missing ... (parameter|field|argument)",
            "validation (error|failed)",
            "bad (request|parameter)",
        ),
    ),
    Rule(
        _PERMANENT,
        "no node could ever hold it",
        "Kubernetes says that even a new node would not do.",
        ("not fit if a new node", "not match ... (selector|affinity)"),
    ),
)

TRANSIENT_RULES = (
    Rule(
        _TRANSIENT,
        "the service itself is unwell",
        "Nothing is said about the machine: try again later.",
        (
            "internal (server )?(error|failure)",
            "backend error",
            "unavailable",
            "time* out",
            "timeout",
            "deadline exceeded",
            "connection (refused|reset|closed|aborted|error)",
            "try again",
        ),
    ),
)

RULES: tuple[Rule, ...] = (
    *RATE_RULES,
    *EXISTS_RULES,
    *STATE_RULES,
    *QUOTA_RULES,
    *STOCKOUT_RULES,
    *PERMANENT_RULES,
    *TRANSIENT_RULES,
)
