"""Numbers as Word writes them in lists."""

from __future__ import annotations

from collections.abc import Callable

_HAN = "零一二三四五六七八九"
_LEGAL = "零壹贰叁肆伍陆柒捌玖"
_STEMS = "甲乙丙丁戊己庚辛壬癸"
_BRANCHES = "子丑寅卯辰巳午未申酉戌亥"
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def chinese(number: int, digits: str = _HAN, units: str = "十百千") -> str:
    """Chinese numeral of 0 to 9,999: 12 → 十二, 105 → 一百零五; larger numbers stay Arabic."""
    if not 0 < number < 10_000:
        return digits[0] if number == 0 else str(number)
    written = ""
    is_gap = False
    for power in (3, 2, 1, 0):
        digit = number // 10**power % 10
        if digit == 0:
            is_gap = bool(written)
            continue
        written += (digits[0] if is_gap else "") + digits[digit] + (units[power - 1] if power else "")
        is_gap = False
    return written.removeprefix(digits[1]) if 10 <= number < 20 and digits is _HAN else written


def letters(number: int) -> str:
    """1 → a, 26 → z, 27 → aa."""
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1) if 0 < number <= 780 else str(number)


def roman(number: int) -> str:
    """1 → i, 9 → ix."""
    if not 0 < number < 4000:
        return str(number)
    written = ""
    for value, numeral in _ROMAN:
        count, number = divmod(number, value)
        written += numeral * count
    return written


def circled(number: int) -> str:
    """1 → ①, up to 20."""
    return chr(0x2460 + number - 1) if 1 <= number <= 20 else str(number)


_FORMATS: dict[str, Callable[[int], str]] = {
    "decimalZero": lambda number: f"{number:02d}",
    "lowerLetter": letters,
    "upperLetter": lambda number: letters(number).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda number: roman(number).upper(),
    "chineseCounting": chinese,
    "chineseCountingThousand": chinese,
    "taiwaneseCounting": chinese,
    "taiwaneseCountingThousand": chinese,
    "japaneseCounting": chinese,
    "japaneseDigitalTenThousand": chinese,
    "ideographDigital": chinese,
    "chineseLegalSimplified": lambda number: chinese(number, _LEGAL, "拾佰仟"),
    "ideographLegalTraditional": lambda number: chinese(number, _LEGAL, "拾佰仟"),
    "ideographTraditional": lambda number: _STEMS[(number - 1) % 10],
    "ideographZodiac": lambda number: _BRANCHES[(number - 1) % 12],
    "decimalEnclosedCircle": circled,
    "decimalEnclosedCircleChinese": circled,
    "none": lambda number: "",
}


def formatted(number: int, number_format: str) -> str:
    """A number in one of Word's formats; an unknown format is written in Arabic digits."""
    return _FORMATS.get(number_format, str)(number)
