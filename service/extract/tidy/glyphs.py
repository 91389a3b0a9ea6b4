"""Characters that fonts put in place of the ones that were meant."""

from __future__ import annotations

import re
import unicodedata

# Kangxi and CJK radicals, compatibility ideographs, Latin ligatures: all have one plain form.
_STAND_INS = re.compile("[\u2e80-\u2fd5\uf900-\ufaff\ufb00-\ufb06\U0002f800-\U0002fa1d]")
_SYMBOL_BULLETS = re.compile("[\uf06c\uf06e\uf075\uf076\uf0a7\uf0a8\uf0b7\uf0d8\uf0fc]")


def unify_glyphs(text: str) -> str:
    """Radicals become ideographs (⽤ → 用), ligatures letters (ﬁ → fi), bullets of symbol fonts •."""
    text = _SYMBOL_BULLETS.sub("•", text)
    return _STAND_INS.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
