"""The two details of a quota refusal that matter later: the limit it states and the quota metric it names.

Both tables are read from the top; each row shows the wording it is for. Care is taken over which number is the limit:
`quota allows for 0 more`, `requested 8`, `New Limit Required: 80` and `available 0` are not. Where a text gives several
limits in one breath, none is taken.
"""

import re

_NUMBER = r"['\"]?([0-9]{1,3}(?:,[0-9]{3}){1,4}(?:\.[0-9]{1,9})?|[0-9]{1,15}(?:\.[0-9]{1,9})?)(?![0-9])"
_QUOTED = r"['\"][^'\"\n]{1,120}['\"]"
_NAME = r"['\"]([^'\"\n]{1,120})['\"]"
_IDENTIFIER = r"([A-Z][a-z0-9]*[A-Z_]\w{0,100}|\w{1,50}_\w{1,50})"

_LIMITS: tuple[tuple[str, str], ...] = (
    ("Current Limit: 40", rf"(?i)\bcurrent limit\s{{0,3}}(?:of|is|:|=)?\s{{0,3}}{_NUMBER}"),
    ("Limit: 24 in region", rf"(?i)(?<!new )\blimits?\s{{0,3}}(?:of|is|was|:|=)?\s{{0,3}}{_NUMBER}(?! more)"),
    ('"quota_limit_value": "16"', rf"(?i)limit_?value['\"]?\s{{0,3}}[:=]\s{{0,3}}{_NUMBER}"),
    ("service limit 'x usage' is 0 Instances", rf"(?i)\blimit {_QUOTED} is {_NUMBER}"),
    ("allowed maximum of 0", rf"(?i)\bmaximum(?: allowed| number)?\s{{0,3}}(?:of|is|:|=)\s{{0,3}}{_NUMBER}"),
    ("a quota of '8.0'", rf"(?i)\bquota\s{{0,3}}(?:of|is|:|=)\s{{0,3}}{_NUMBER}(?! more)"),
    ("Project has 0 quota", rf"(?i)\b{_NUMBER} quota\b"),
    ("limited: limits.cpu=6", rf"(?i)\blimited: [\w./-]{{1,100}}={_NUMBER}(?![\w,.])"),
    ("already used 8 of 10 cores", rf"(?i)\bused [0-9]{{1,15}} (?:out )?of {_NUMBER}(?!, [0-9])"),
    ("reached its quota (0/0)", rf"(?i)\bquota\b[^.\n]{{0,60}}\b[0-9]{{1,9}}/{_NUMBER}(?!/)"),
    ("requested more than allowed (16 > 8)", rf"\b[0-9]{{1,9}} > {_NUMBER}"),
    ("maximum number of templates (5000)", rf"(?i)\bmaximum number of [\w ]{{1,60}} \({_NUMBER}\)"),
)

_METRICS: tuple[tuple[str, str], ...] = (
    ("Quota limit 'TPUV5sPerProject'", rf"(?i)\bquota (?:limit |metric )?{_NAME}"),
    ("Quota CPUS_PER_VM_FAMILY exceeded", r"(?i)\bquota (\w{1,60}_\w{1,60}) (?:has been )?exceeded"),
    ("metrics exceed quota limits: a.com/b", r"(?i)\bquota metrics? exceed quota limits: ([^\s,;]{1,120})"),
    ("Insufficient 'IN_USE_ADDRESSES' quota", rf"(?i)\b(?:insufficient|not enough) {_NAME} quota"),
    ('quota to satisfy request: resource "CPUS"', rf"(?i)\bquota\b[^.\n]{{0,60}}\bresource {_NAME}"),
    ("quota of TPUV4CoresPerProject", rf"\b[Qq]uota (?:of|for) {_IDENTIFIER}"),
    ("service limit 'x usage'", rf"(?i)\bservice limit {_NAME}"),
    ("limits were exceeded: gpu-count", r"(?i)\blimits were exceeded: ([\w.-]{1,99}\w)"),
    ("approved Total Regional Cores quota", r"(?i)\bapproved ([^.\n]{1,80}?) quota\b"),
    ("limited: limits.cpu=6", r"(?i)\blimited: ([\w./-]{1,100})="),
    ("insufficient quota for cpu in flavor", r"(?i)\bquota for ([\w./-]{1,100}) in flavor"),
    ("InstanceServers_GPU has reached its quota", r"(?i)\b([\w.-]{1,100}) has reached its quota"),
)

_LIMIT_PATTERNS = tuple(re.compile(pattern) for _, pattern in _LIMITS)
_METRIC_PATTERNS = tuple(re.compile(pattern) for _, pattern in _METRICS)


def stated_limit(text: str) -> float | None:
    """The limit in force that the text states, in the units of its own quota; None when it states none."""
    plain = text.replace("\\", "")
    for pattern in _LIMIT_PATTERNS:
        if found := pattern.search(plain):
            return float(found[1].replace(",", ""))
    return None


def named_metric(text: str) -> str | None:
    """The quota metric or limit that the text names, as written; None when it names none."""
    plain = text.replace("\\", "")
    return next((found[1].strip() for pattern in _METRIC_PATTERNS if (found := pattern.search(plain))), None)
