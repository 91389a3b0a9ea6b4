"""Characters that fonts put in place of the ones that were meant."""

from __future__ import annotations

import re
import unicodedata

# Kangxi and CJK radicals, compatibility ideographs, Latin ligatures: all have one plain form.
_STAND_INS = re.compile("[\u2e80-\u2fd5\uf900-\ufaff\ufb00-\ufb06\U0002f800-\U0002fa1d]")
_ANY = re.compile("[\u2e80-\u2fd5\uf000-\uf0ff\uf900-\ufaff\ufb00-\ufb06\U0002f800-\U0002fa1d]")
_SYMBOL_BULLETS = re.compile("[\uf06c\uf06e\uf075\uf076\uf0a7\uf0a8\uf0b7\uf0d8\uf0fc]")


_RADICALS = str.maketrans(
    "⺁⺇⺌⺎⺑⺒⺓⺛⺝⺟⺠⺩⺭⺮⺴⺷⺼⺾⻁⻂⻃⻄⻅⻆⻉⻊⻋⻌⻏⻐⻑⻓⻔⻖⻗⻘⻙⻚⻛⻜⻝⻟⻠⻢⻣⻤⻥⻦⻧⻨⻩⻬⻮⻰⻳",
    "厂几小兀尣巳幺旡月母民王示竹网羊肉艹虎衤覀西见角贝足车辶阝钅長长门阝雨青韦页风飞食饣饣马骨鬼鱼鸟卤麦黄齐齿龙龟",
)
"""CJK radicals that NFKC leaves alone; browsers write them into PDFs (⻚ for 页)."""


def unify_glyphs(text: str) -> str:
    """Radicals become ideographs (⽤ → 用), ligatures letters (ﬁ → fi), bullets of symbol fonts •."""
    if not _ANY.search(text):
        return text
    text = _SYMBOL_BULLETS.sub("•", text).translate(_RADICALS)
    return _STAND_INS.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
