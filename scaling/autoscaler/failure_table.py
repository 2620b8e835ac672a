"""The table that turns a cloud's words into one of four classes: read from the top, the first row that fits decides.

How to read and extend it. A phrase is matched against the error's *plain words*: lower case, `VcpuLimitExceeded` and
`VCPU_LIMIT_EXCEEDED` both read as `vcpu limit exceeded`, `didn't` as `did not`, no punctuation, addresses and resource
paths removed. In a phrase

* `(a|b)` is either word, `(a )?` an optional one, `word*` any word that begins so;
* `..` is up to four words between, `...` up to eight, within one sentence; `;` ends a sentence.

Put a new row where its neighbours in meaning stand, and say why. A row holds a meaning that several clouds share, never
one message. Numbers such as 403, 429 or 500 mean different things in different services, so no row uses them, and the
codes of GENERIC_CODES count only where the words say nothing.

Order of meaning: pace of calls, names, states; then what is limited by an allowance (quota), what the zone has run out
of (stockout), what will never work (permanent), what is broken for the moment (transient). The last rows are single
telling words, for texts that none of the sentences above fits.

Sources of the vocabulary: the published error references of EC2, Azure Resource Manager and Compute, Compute Engine,
Cloud TPU, GKE, OCI, Lambda, RunPod, Hetzner, DigitalOcean, OpenStack, Alibaba ECS, Tencent CVM, IBM VPC, Kubernetes,
Kueue, Karpenter and Slurm.
"""

from scaling.autoscaler.failure_rows_refused import PERMANENT_RULES, REQUEST_RULES
from scaling.autoscaler.failure_words import (
    CALLS,
    MACHINES,
    NAMED,
    PLACES,
    QUOTA,
    STOCKOUT,
    TOO_LITTLE,
    TOO_MUCH,
    TRANSIENT,
    Rule,
)

PACE_RULES = (
    Rule(
        TRANSIENT,
        "a limit per second or minute",
        "A limit that renews itself within a minute is a pace, whatever the message calls it.",
        (
            "per (second|sec|minute|min)",
            f"{CALLS} per (hour|user|100 seconds)",
            "quota metric .. (requests|queries|calls)",
            f"(read|write|list|get|create|insert|delete|mutate|api) (requests|queries|calls) .. {TOO_MUCH}",
        ),
        rate_limited=True,
    ),
    Rule(
        QUOTA,
        "a quota with its limit named",
        "Google answers device quotas with the reason RATE_LIMIT_EXCEEDED too; the sentence says which limit it is.",
        ("quota ... exceeded (; )?limit [0-9]+",),
    ),
    Rule(
        TRANSIENT,
        "calls came too fast",
        "The call is refused, not the machine: the same request works a little later.",
        (
            "throttl*",
            f"too many (api |concurrent )?{CALLS}",
            "toomanyrequests",
            "(rate|rates) (is |was )?(limit*|exceed*)",
            f"rate of {CALLS}",
            f"(operation|request|call|frequency) (rate )?limit* {TOO_MUCH}",
            f"{TOO_MUCH} ... (frequency|rate|request) limit",
            "slow down",
            "flow control",
        ),
        rate_limited=True,
    ),
)

EXISTS_RULES = (
    Rule(
        TRANSIENT,
        "the name is taken",
        "Names are ours and unique, so the thing is there from an earlier try; whoever asked looks at it again.",
        (
            "already exist*",
            "exists already",
            "name .. already (used|taken|in use)",
            "name (is |has been )?(taken|in use)",
            "(duplicate|duplicated) (resource |instance |server )?name",
            "name ... (not unique|must be unique)",
            "uniqueness error",
        ),
        already_exists=True,
    ),
)

STATE_RULES = (
    Rule(
        TRANSIENT,
        "the network between us and the cloud failed",
        "Nothing was decided about the machine; these texts speak of hosts, limits and retries of the connection only.",
        (
            "connection* (was |is )?(refused|reset|closed|aborted|timed|lost|broken|error)",
            "(could|can|did) not connect",
            "dial tcp",
            "no such host",
            "name resolution",
            "name or service not known",
            "max retries exceeded with url",
            "unexpected eof",
            "broken pipe",
            "tls handshake",
            "errno",
        ),
    ),
    Rule(
        TRANSIENT,
        "something is on its way and will be there soon",
        "An account under verification, a reservation being made, a machine between two states: waiting is the cure.",
        (
            "while ... in (the )?(state|status)",
            "(currently|being|still) (being )?(verified|validated|created|processed|provisioned|deleted)",
            "(currently|being|still) (being )?(updat*|upgrad*|modif*)",
            "pending verification",
            "requires ... to be in ... state",
            "(operation|request|change|update|action) ... in progress",
            "another (operation|action|request) ... (running|pending|progress)",
            "(concurrent|conflicting) (operation|request|update)",
            "object has been modified",
            "incorrect ... (state|status)",
            "not in a (valid )?state",
            "(back off|backoff) after",
        ),
    ),
    Rule(
        TRANSIENT,
        "a node is unwell for the moment",
        "Kubernetes marks nodes that it cannot reach or that are starting; the mark goes away by itself.",
        ("taint* ... (unreachable|not ready|uninitialized|out of service|pressure|unavailable|unschedulable)",),
    ),
)

QUOTA_RULES = (
    Rule(
        QUOTA,
        "a quota is used up or too small",
        "The account may not have more; another account or a person changes that, time rarely does.",
        (
            f"quota* ... {TOO_MUCH}",
            f"{TOO_MUCH} ... quota*",
            "over quota",
            "(quota|quotas) (failure|limit|error|does not|do not|allows|not enough)",
            "(not enough|no|zero|0|additional) ... quota",
            "exceed* ... (allowed maximum|maximum allowed|allowed)",
        ),
    ),
    Rule(
        QUOTA,
        "the network has no addresses left",
        "Addresses are an allowance of the account's own network, not hardware of the zone.",
        (
            "(insufficient|not enough|no|no more|no free|out of|lack of|exhausted) .. (ip|ips|ipv4|address|addresses)",
            "not ... enough ... (ip|ips|ipv4|address|addresses)",
            "(ip|ips|subnet|address|addresses) ... (exhausted|full|not enough|insufficient)",
            "insufficient subnet",
        ),
    ),
    Rule(
        QUOTA,
        "a limit of the account, service or project is reached",
        "The same thing under the name limit: vCPU limit, droplet limit, service limit, instance count.",
        (
            f"(limit|limits) (of [a-z0-9]+ )?(has been |have been |was |were |is |are )?(already )?{TOO_MUCH}",
            f"{TOO_MUCH} ... (its|your|the|account|service|instance|server|resource) ... (limit|limits)",
            "(exceed*|violat*|reach*) ... (limit|limits)",
            f"(account|service|instance|vcpu|cpu|core|gpu|server|node|spend*|borrowing) (count )?limit* ... {TOO_MUCH}",
            "more ... than your current ... limit",
            f"(max|maximum) ... (count|number|size|limit) ... {TOO_MUCH}",
            f"{TOO_MUCH} ... (max|maximum) ... (number|count|allowed|storage)",
            f"maximum number of {MACHINES} ... (allowed|exceed*|reach*)",
            "exceeded the number of",
            f"too many ([a-z]+ )?{MACHINES}",
            "(can not|not) create more than [0-9]+",
            "(count|number) (limit|exceeded)",
            f"{TOO_MUCH} (its|the|your|a) (maximum|max) (of|number|count|for|allowed)",
            "(qos|assoc|association) (max|grp|group)",
        ),
    ),
)

STOCK_RULES = (
    Rule(
        STOCKOUT,
        "the zone has no such hardware left",
        "The cloud would sell it and has none: another zone or a later hour helps.",
        (
            "stockout*",
            "(out of|outof|no|insufficient|low) stock",
            "shortage",
            "(sold|sells|selling) out",
            "soldout",
            f"{TOO_LITTLE} .. (capacity|inventory|hardware)",
            "(not|none|without) ... (enough|sufficient) ... (capacity|resource|resources)",
            f"{TOO_LITTLE} (compute |physical |reserved |available )*(resource|resources)",
            "(resources|capacity|hosts|nodes|pool) (are |is |have been |has been )?(exhausted|insufficient)",
            "not have the resources",
            f"(insufficient|not enough|not sufficient|no more|out of|lack of) .. {MACHINES}",
            "waiting for (resources|capacity)",
            "capacity ... (not available|unavailable|exhausted|not enough|insufficient|exceeded|low|constrained|over*)",
            "un(fulfillable|available) capacity",
            "(unable|not able|failed) to (fulfill|satisfy|provide|find|obtain|allocate) ... capacity",
        ),
    ),
    Rule(
        STOCKOUT,
        "no machine could be placed",
        "Placement is where a cloud finds out that its hosts are full.",
        (
            "allocation (failed|failure)",
            "overconstrained ... allocation",
            "no valid host",
            "exhausted all hosts",
            "placement (error|failed|failure)",
            "(error|failed|failure) (during|in) placement",
            f"(unable|not able|failed) to (provision|allocate|place|obtain|find|reserve) ([a-z0-9]+ )?{MACHINES}",
            "not be (obtained|fulfilled|satisfied|allocated)",
        ),
    ),
    Rule(
        TRANSIENT,
        "a service is unavailable, not a machine",
        "Unavailable means broken when it is said of a service, sold out when it is said of hardware (next row).",
        ("(service|api|server|endpoint|system|backend|gateway) (is |was )?(currently |temporarily )?unavailable",),
    ),
    Rule(
        STOCKOUT,
        "this kind of machine cannot be had at the moment",
        "The zone has the kind and none of it to give: it frees up, or another zone has some.",
        (
            f"(no|none|no longer) .. {MACHINES} .. (available|free|left|found)",
            f"no available ([a-z0-9]+ )?{MACHINES}",
            f"no {MACHINES} (available|free|left|found)",
            "none ... (free|available|left)",
            f"{MACHINES} ... (not|no longer) (currently |longer )?available",
            f"{MACHINES} ... (is|are|was|were|be) (currently |temporarily )?unavailable",
            f"{MACHINES} {NAMED}(currently |temporarily )?unavailable",
            "no longer available",
            "already (rented|sold|reserved|taken)",
            f"{MACHINES} .. busy",
            "nodes ... (down|drained|reserved)",
            "not available (in|for purchase)",
            "not have available resources",
            "not on sale",
            "sales ... suspended",
            "not available ... (zone|region|location)",
        ),
    ),
    Rule(
        STOCKOUT,
        "not all machines of one request could be had",
        "All-or-nothing requests fail as a whole when the zone has only some of them.",
        ("min* count ... not (be )?(reached|created|met)", "requested minimum count"),
    ),
    Rule(
        STOCKOUT,
        "nobody sells at this price now",
        "A spot price above our bid is a market without stock for us; it moves by itself.",
        ("price ... (too low|lower than|below)", "max price"),
    ),
    Rule(
        STOCKOUT,
        "something that machines are made of is short",
        "After rights, money, quotas and addresses (above), insufficient is said of cores, memory and devices.",
        ("insufficient",),
    ),
)

SERVICE_RULES = (
    Rule(
        TRANSIENT,
        "the service itself is unwell",
        "Nothing is said about the machine: try again later.",
        (
            "internal (server )?(error|failure)",
            "backend error",
            "unavailable",
            "time limit",
            "overloaded",
            "maintenance",
            "time* out",
            "timeout",
            "deadline",
            "gateway",
            "not ready",
            "locked",
        ),
    ),
)

LAST_WORD_RULES = (
    Rule(QUOTA, "the text speaks of a quota", "Clouds use the word for allowances only.", ("quota*",)),
    Rule(
        STOCKOUT,
        "the text speaks of capacity, or sends us elsewhere",
        "A cloud that proposes another place or size has none of this one here.",
        (
            "capacity",
            f"(try|choose|choosing|select|pick|in|use) (in |with |a |an )*(different|another|other) ([a-z]+ )?{PLACES}",
            f"(try|choose|choosing|select|pick|use) (with |a |an )*(different|another|other) ([a-z]+ )?{MACHINES}",
        ),
    ),
    Rule(QUOTA, "the text speaks of a limit", "A limit that is no pace of calls is an allowance.", ("limit*",)),
)

RULES: tuple[Rule, ...] = (
    *PACE_RULES,
    *EXISTS_RULES,
    *STATE_RULES,
    *REQUEST_RULES,
    *QUOTA_RULES,
    *STOCK_RULES,
    *PERMANENT_RULES,
    *SERVICE_RULES,
    *LAST_WORD_RULES,
)
