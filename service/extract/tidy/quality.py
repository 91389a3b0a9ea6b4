"""Quality gate: is what was read worth keeping, and which pages are doubtful?"""

from __future__ import annotations

import re
from dataclasses import replace

from service.errors import NoText
from service.types import ExtractedText, Notice

_PRIVATE_USE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010fffd]")
_SHARE_NOTED = 0.02
_SHARE_REFUSED = 0.5


def judge(extracted: ExtractedText) -> ExtractedText:
    """The same text with the warnings it deserves.

    Raises:
        NoText: nothing readable is in it.
    """
    text = extracted.text
    solid = len("".join(text.split()))
    if solid == 0:
        raise NoText("nothing readable was found in the file", media_type=extracted.media_type)
    unreadable = len(_PRIVATE_USE.findall(text)) + text.count("\ufffd")
    if unreadable / solid > _SHARE_REFUSED:
        raise NoText("the text of this file cannot be read: its characters have no known meaning")
    notices = list(extracted.warnings)
    if unreadable / solid > _SHARE_NOTED:
        notices.append(Notice("unreadable_characters", f"{unreadable} of {solid} characters have no known meaning"))
    return replace(extracted, warnings=tuple(notices))
