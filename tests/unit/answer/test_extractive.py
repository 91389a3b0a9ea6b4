"""Without a model the best sentences answer, as they stand, each with its place."""

from __future__ import annotations

import pytest

from service.answer import best_sentences
from service.split import split_sentences
from tests.unit.answer.made import numbered, passage

MANUAL = "# 空压机保养\n\n每三个月更换一次滤芯，型号 AX-200B。更换前先切断电源。外壳每周擦拭。"


def test_the_sentence_that_shares_most_with_the_question_is_taken() -> None:
    text, citations = best_sentences(
        "更换滤芯之前要切断电源吗？", numbered(passage(MANUAL, start=100)), split_sentences
    )
    assert "更换前先切断电源。 [1]" in text
    assert "外壳" not in text
    for citation in citations:
        content = MANUAL[citation.start - 100 : citation.end - 100]
        [(start, end)] = citation.mentions
        assert text[start:end] == "[1]"
        assert text[: start - 1].endswith(content)


def test_a_heading_and_a_question_lend_their_words_to_what_follows() -> None:
    faq = passage(
        "保修期是多久？\n自购买之日起两年，电池为一年。\n运费由谁承担？\n由买方承担。", heading_path=(), title=None
    )
    text, _ = best_sentences("保修期多久", numbered(faq), split_sentences)
    assert text == "自购买之日起两年，电池为一年。 [1]"


def test_the_same_sentence_in_two_passages_is_said_once() -> None:
    text, citations = best_sentences("滤芯", numbered(passage(MANUAL), passage(MANUAL, start=900)), split_sentences)
    assert text.count("滤芯") == 1
    assert len(citations) == 1


def test_where_no_word_is_shared_the_best_hit_begins_the_answer() -> None:
    text, [citation] = best_sentences("how often?", numbered(passage(MANUAL, hit=(31, 40))), split_sentences)
    assert text == "更换前先切断电源。 [1]"
    assert MANUAL[citation.start : citation.end] == "更换前先切断电源。"


@pytest.mark.parametrize("content", ["#", "？", "一", "a" * 2000])
def test_any_passage_gives_an_answer(content: str) -> None:
    text, citations = best_sentences("什么", numbered(passage(content)), split_sentences)
    assert text
    assert citations


def test_sentences_come_in_the_order_of_their_passages_and_no_more_than_three() -> None:
    passages = numbered(*(passage(f"第{name}号水泵每半年更换轴承。", start=at) for at, name in enumerate("甲乙丙丁")))
    text, citations = best_sentences("水泵轴承", passages, split_sentences)
    assert [citation.number for citation in citations] == [1, 2, 3]
    assert text.splitlines()[0] == "第甲号水泵每半年更换轴承。 [1]"


def test_a_sentence_lends_a_part_to_the_next_one() -> None:
    other = passage("# 备件\n\n滤芯的更换规格见附表。更换规格每年核对一次。", start=900)
    text, _ = best_sentences("更换滤芯前要做什么", numbered(passage(MANUAL), other), split_sentences)
    assert "更换前先切断电源。 [1]" in text


def test_a_question_for_a_number_prefers_sentences_with_one_of_their_own() -> None:
    report = passage("# 报告\n\n2018年第一季度营业收入情况如下。2018年第一季度营业收入为4,755.11万元。以上未经审计。")
    text, _ = best_sentences("2018年第一季度营业收入是多少？", numbered(report), split_sentences)
    assert "2018年第一季度营业收入为4,755.11万元。 [1]" in text
    without = best_sentences("2018年第一季度营业收入", numbered(report), split_sentences)[0]
    assert "以上未经审计" not in text + without
