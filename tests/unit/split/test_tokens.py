"""Token counts: the estimate, and exact ones by a tokenizer file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from service.errors import InvalidSettings
from tests.unit.split import check_rules, split_markdown, split_plain


@pytest.fixture
def tokenizer_file(tmp_path: Path) -> Path:
    """Splits Latin words into pairs of letters and Han into single characters, counts every unknown piece as one."""
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex("[a-z]{1,2}|[^a-z]"), "isolated")]
    )
    tokenizer.enable_truncation(10)
    tokenizer.enable_padding(length=10)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("汉字", 2), ("abcd", 1), ("abcde", 2), ("汉 ab c", 2), ("한국どうぶつ", 6), ("，。", 2), ("a", 1), ("𠮷", 1)],
)
def test_the_estimate(text: str, tokens: int) -> None:
    assert split_plain(text).parents[0].token_estimate == tokens


def test_a_tokenizer_counts_exactly(tokenizer_file: Path) -> None:
    chunks = split_plain("汉字 abcdef ghi。", tokenizer_file=tokenizer_file)
    assert chunks.parents[0].token_estimate == 2 + 3 + 2 + 1


def test_budgets_hold_in_exact_tokens(tokenizer_file: Path) -> None:
    text = "# 标题\n\n" + "".join(f"- {'abcd ' * 5}汉字项目{number}。\n" for number in range(100))
    exact = split_markdown(
        text, unit="tokens", soft_tokens=50, hard_tokens=60, tokenizer_file=tokenizer_file, parent_overlap=0
    )
    check_rules(text, exact)
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    counts = [len(tokenizer.encode(text[parent.start : parent.end])) for parent in exact.parents]
    assert [parent.token_estimate for parent in exact.parents] == counts
    assert max(counts) <= 60
    estimated = split_markdown(text, unit="tokens", soft_tokens=50, hard_tokens=60, parent_overlap=0)
    assert len(exact.parents) != len(estimated.parents)


def test_a_changed_file_is_read_again(tokenizer_file: Path) -> None:
    assert split_plain("abcd", tokenizer_file=tokenizer_file).parents[0].token_estimate == 2
    whole_words = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    whole_words.save(str(tokenizer_file))
    os.utime(tokenizer_file, ns=(1, 1))
    assert split_plain("abcd", tokenizer_file=tokenizer_file).parents[0].token_estimate == 1


@pytest.mark.parametrize("content", [None, "{}", "no json"])
def test_an_unreadable_tokenizer_is_refused(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InvalidSettings, match="tokenizer_file"):
        split_plain("字。", tokenizer_file=path)
