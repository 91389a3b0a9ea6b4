"""The reasons of the local reranker in Chinese; it gives them in English (`service/rerank/local/reasons.py`)."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"\d+")
_AGAINST = "against it: "

CHINESE: dict[str, str] = {
    "place {n} in the fused order": "融合名次第 {n}",
    "no passage is closer in meaning": "语义上没有更接近的段落",
    "closer in meaning than the average": "语义比平均更接近",
    "farther in meaning than the average": "语义比平均更远",
    "others are closer in meaning": "其他段落语义更接近",
    "its second chunk is close as well": "第二个子块也很接近",
    "its other chunks are not close": "其余子块并不接近",
    "not among the hits by words": "不在词语命中之中",
    "place {n} among the hits by words": "词语命中第 {n}",
    "all words of the question": "包含问题的全部词语",
    "covers most of the question": "覆盖问题的大部分词语",
    "no passage covers more of the question": "没有段落覆盖更多的问题词语",
    "others cover more of the question": "其他段落覆盖更多的问题词语",
    "words of the question close together": "问题词语在文中相距很近",
    "no passage has more of the question in one place": "没有段落在一处集中更多的问题词语",
    "others have more of the question in one place": "其他段落在一处集中更多的问题词语",
    "a stretch as long as the question in its own words": "有一段与问题用词完全一致",
    "no passage has a longer stretch of the question": "没有段落与问题有更长的连续一致",
    "others have a longer stretch of the question": "其他段落与问题有更长的连续一致",
    "no word of the question in the heading": "标题中没有问题的词语",
    "words of the question in the heading": "标题中有问题的词语",
    "all words of the question in the heading": "标题包含问题的全部词语",
    "no word of the question in the title": "文档名中没有问题的词语",
    "words of the question in the title": "文档名中有问题的词语",
    "all words of the question in the title": "文档名包含问题的全部词语",
    "{n} passages of its document were found": "同一文档共命中 {n} 个段落",
    "the only passage of its document that was found": "同一文档仅命中这个段落",
    "the passage next to it fits as well": "相邻段落也符合",
}


def in_chinese(words: str) -> str:
    """A reason in Chinese; one that is not known stays as it is."""
    bare = words.removeprefix(_AGAINST)
    numbers = _NUMBER.findall(bare)
    known = CHINESE.get(_NUMBER.sub("{n}", bare))
    if known is None:
        return words
    said = known.format(n=numbers[0] if numbers else "")
    return f"不利：{said}" if words.startswith(_AGAINST) else said
