"""What the failure table is written with: its row, its classes, the words that many phrases share."""

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


STOCKOUT = FailureClass.STOCKOUT
TRANSIENT = FailureClass.TRANSIENT
QUOTA = FailureClass.QUOTA
PERMANENT = FailureClass.PERMANENT

# Words that many phrases share.
CALLS = "(request|requests|query|queries|call|calls|operation|operations)"
TOO_MUCH = "(exceed|exceeds|exceeded|exceeding|reach|reached|hit|exhausted|surpassed|insufficient|full|over|violates)"
TOO_LITTLE = (
    "(insufficient|not enough|not sufficient|no|no more|lack|lacks|lacking|limited|low|out of|exhausted|"
    "unavailable|unavailability|shortage)"
)
MACHINES = (
    "(instance|instances|vm|vms|gpu|gpus|tpu|tpus|node|nodes|machine|machines|servers|server type|server types|host|"
    "hosts|hardware|accelerator|accelerators|droplet|droplets|offer|offers|offering|offerings|sku|skus|size|sizes|type|"
    "types|flavor|flavors|shape|shapes|plan|plans|slice|slices|inventory|resource|resources|capacity)"
)
# Up to four words that name a machine: `GPU type RTX 4090 unavailable`, not `instance creation failed: unavailable`.
NAMED = "((?!fail|error|not |did |while |when )[a-z0-9]+ ){0,4}"
THINGS = (
    "zone|region|location|image|type|instance|flavor|field|parameter|machine|key|argument|action|user|account|project|"
    "name|value|option|property|accelerator|shape|size|platform|network|subnet|profile|plan|resource"
)
CHOICES = "(sizes|types|values|zones|regions|choices|options|versions|shapes)"
PARTS = "(image|images|network|networks|subnet|subnets|security group|security groups|key|keys|snapshot|snapshots)"
PLACES = "(zone|region|location|datacenter|data center|availability zone|availability domain)"
OWNER = "(account|project|subscription|user|organization|tenant|tenancy|workspace|billing|payment)"

# Codes that whole families of refusals share, as in gRPC's status names: they decide only where the words do not.
GENERIC_CODES = frozenset(
    {
        "aborted",
        "allocation failed",
        "bad request",
        "bad request exception",
        "failed precondition",
        "internal error",
        "internal server error",
        "invalid argument",
        "invalid fleet configuration",
        "invalid parameter",
        "invalid parameter value",
        "invalid request error",
        "not found",
        "operation denied",
        "operation not allowed",
        "out of range",
        "permission denied",
        "rate limit exceeded",
        "resource exhausted",
        "resource not found",
        "service unavailable",
        "unavailable",
        "unsupported operation",
    }
)
