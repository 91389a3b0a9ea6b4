"""A data set of six short documents, and settings of a database of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from service.config import DatabaseSettings, Settings
from service.evaluate.run.take_in import TakeInProgress
from tests.conftest import Databases

DOCUMENTS = {
    "warranty": ("保修", "整机保修三年，电池保修一年。人为损坏不在保修之内。"),
    "visitors": ("来访", "外来施工人员必须佩戴安全帽。访客应在前台登记。"),
    "pump": ("水泵", "型号ZF20817的水泵每年换一次密封圈。换下的零件要登记。"),
    "leave": ("请假", "员工每年有十天年假。病假需要医院证明。"),
    "mail": ("邮件", "密码每九十天更换一次。不要打开陌生附件。"),
    "meal": ("食堂", "食堂十一点半开门。自带餐具可以打折。"),
}
QUESTIONS = [
    ("q1", "电池坏了，多久以内可以免费修？", ["电池保修一年"], ["warranty"]),
    ("q2", "ZF20817", ["每年换一次密封圈"], ["pump"]),
    ("q3", "生病了怎么请假？", ["病假需要医院 证明"], ["leave"]),
    ("q4", "谁要戴安全帽？", ["外来施工人员"], ["visitors", "meal"]),
    ("q5", "这里没有答案的问题", ["不在任何段落里的句子"], ["mail"]),
]


def write_set(folder: Path, documents: dict[str, tuple[str, str]] = DOCUMENTS) -> Path:
    """The set as files."""
    (folder / "long").mkdir(parents=True, exist_ok=True)
    corpus = [{"id": name, "title": title, "text": text} for name, (title, text) in documents.items()]
    queries = [{"id": name, "text": text, "answers": answers} for name, text, answers, _ in QUESTIONS]
    judged = [f"{name}\t{document}\t1" for name, _, _, relevant in QUESTIONS for document in relevant]
    for file, lines in (
        (folder / "long" / "corpus.jsonl", map(json.dumps, corpus)),
        (folder / "queries.jsonl", map(json.dumps, queries)),
        (folder / "long" / "qrels.tsv", ["query-id\tcorpus-id\tscore", *judged]),
    ):
        file.write_text("\n".join(lines))
    return folder


class Listener:
    """A `Watch` that remembers."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []
        self.taken: list[tuple[int, int, float]] = []

    def taking_in(self, progress: TakeInProgress) -> None:
        self.taken.append((progress.done_documents, progress.total_documents, progress.done_characters))

    def asking(self, done: int, total: int) -> None:
        self.asked.append((done, total))


@pytest.fixture(scope="module")
def live(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Settings of a user's database; evaluation databases beside it are dropped at the end."""
    with databases.fresh() as dsn:
        yield Settings(
            _env_file=None,
            home=tmp_path_factory.mktemp("home"),
            database=DatabaseSettings(url=SecretStr(dsn), pool_size=4),
        )
        with psycopg.connect(dsn, autocommit=True) as connection:
            names = connection.execute(
                "select datname from pg_database where datname like current_database() || '_evaluation_%'"
            ).fetchall()
            for (name,) in names:
                connection.execute(f'drop database "{name}" with (force)')
