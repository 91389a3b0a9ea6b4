"""How much a decoded text looks like something that a person wrote."""

from __future__ import annotations

import unicodedata
from functools import cache

LIKELY_TEXT = 0.6
"""Plausibility from which a reading counts as right; true texts of the sample files reach 0.85 and more."""
_FREQUENT = frozenset(
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经"
    "十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形"
    "相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展"
    "五果料象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必战"
    "先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权收证改清己美再采转更单风切打白"
    "教速花带安场身车例真务具万每目至达走积示议声报斗完类八离华名确才科张信马节话米整空元况今集温传土许步群广石记需段研界拉林律叫"
    "們國這個來時為說對會發動過種產後學經進著電裡現實兩體機當點從業應開還其間樣與關線內數無氣變條問題結長統將組見計別論運農區強"
    "處隊給門導壓聯認權證清轉單風達積議聲報類離華確張馬節話況傳許廣記務場車東員請網頁資訊服"
)
"""The most frequent characters of Chinese prose, simplified and traditional; about two thirds of a real text."""

_FREQUENT_HANGUL = frozenset(
    "이다는에의을를고하기지도로한사자서시정스인가나라마대해전일부수리어그보제있것들과성으아여니구상동장원비조주무우공면적국개생선화"
    "치거계방문세회설데터베분입안녕요세트용관경위본학"
)


@cache
def _is_common(character: str) -> bool:
    """True for Han characters of the first level of GB 2312 or Big5, the ones that people really use."""
    for encoding, first, last in (("gb2312", 0xB0, 0xD7), ("big5", 0xA4, 0xC6)):
        try:
            code = character.encode(encoding)
        except UnicodeEncodeError:
            continue
        if len(code) == 2 and first <= code[0] <= last:
            return True
    return False


_CREDITS: tuple[tuple[int, int, float], ...] = (
    (0x00C0, 0x024F, 0.7),  # accented Latin letters
    (0x2010, 0x2044, 1.0),  # dashes, quotes, ellipsis
    (0x3000, 0x303F, 1.0),  # CJK punctuation
    (0x3040, 0x30FF, 0.95),  # kana
    (0xFF01, 0xFF5E, 1.0),  # full-width ASCII
    (0xFF61, 0xFF9F, 0.0),  # half-width kana: what any high byte is in Shift-JIS
)
_RUBBISH = frozenset({"Co", "Cn", "Cs", "Cc"})


@cache
def _credit(character: str) -> float:
    """Credit of one character beyond ASCII, at most 1."""
    code = ord(character)
    credit = next((credit for first, last, credit in _CREDITS if first <= code <= last), 0.5)
    if 0x4E00 <= code <= 0x9FFF:
        credit = 1.0 if character in _FREQUENT else 0.75 if _is_common(character) else 0.0
    elif 0xAC00 <= code <= 0xD7A3:
        credit = 0.95 if character in _FREQUENT_HANGUL else 0.5
    elif character == "\ufffd" or unicodedata.category(character) in _RUBBISH:
        credit = -4.0
    return credit


def plausibility(text: str) -> float:
    """From 0 (rubbish) to 1: the mean credit of the characters beyond ASCII; control characters count as rubbish.

    Text of ASCII alone is plausible. Accented Latin letters count only beside an ASCII letter and alone,
    since Chinese bytes read as Latin-1 are accented letters in long rows.
    """
    credit = size = 0.0
    run = 0
    for character in text:
        code = ord(character)
        if code >= 0x80:
            run += 1
            is_in_row = run > 1 and 0x00A0 <= code <= 0x024F
            credit += _credit(character) - (0.7 if is_in_row else 0.0)
            size += 1.0
        else:
            run = 0
            if (code < 0x20 and code not in (9, 10, 12, 13)) or code == 0x7F:
                credit -= 4.0
                size += 1.0
    if size == 0.0:
        return 1.0 if text else 0.0
    return max(0.0, credit / size)
