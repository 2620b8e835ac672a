"""What an act would do before it is done: the next plan with it beside the next plan without it.

Nothing here is stored or sent. The plans are made by the pure core that plans for real, on what is stored now.
"""

from scaling.previews.answers import NO_ANSWER, NOT_DONE, asked
from scaling.previews.base import looking
from scaling.previews.changes import Change
from scaling.previews.cluster import preview
from scaling.previews.effects import GroupEffect, JobEffect, Preview

__all__ = ["NOT_DONE", "NO_ANSWER", "Change", "GroupEffect", "JobEffect", "Preview", "asked", "looking", "preview"]
