"""Evaluations in both languages, side by side: English, then Chinese."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    "evaluation.run": ("Run", "评测"),
    "evaluation.questions": ("Questions", "问题数"),
    "evaluation.model": ("Model", "模型"),
    "evaluation.stage": ("Stage", "阶段"),
    "evaluation.stage.vector": ("Meaning alone", "仅语义"),
    "evaluation.stage.fts": ("Words alone", "仅词语"),
    "evaluation.stage.rrf": ("Fused", "融合"),
    "evaluation.stage.rerank": ("Reranked", "重排"),
    "evaluation.none": ("No evaluation is stored yet.", "还没有保存的评测。"),
    "evaluation.none_next": (
        "Write down questions with what should be found, and measure from a terminal:",
        "写下问题和应当找到的内容，然后在终端里运行：",
    ),
    "evaluation.asked": ("{n:,} question|{n:,} questions", "{n:,} 个问题"),
    "evaluation.corpus": (
        "{documents:,} documents, {children:,} child chunks",
        "{documents:,} 篇文档，{children:,} 个子块",
    ),
    "evaluation.interval": (
        "Below each figure its {percent} % interval: bootstrap over the questions, seed {seed}.",
        "数值下方是 {percent} % 区间：对问题做自助抽样，随机种子 {seed}。",
    ),
    "evaluation.times": ("Milliseconds", "毫秒"),
    "evaluation.times_hint": (
        "Half of the searches took less than the first figure, 95 % less than the second.",
        "前一个数：半数检索更快；后一个数：95 % 的检索更快。",
    ),
    "evaluation.hardest": (
        "{n:,} question without a right passage in first place|{n:,} questions without a right passage in first place",
        "{n:,} 个问题的首位段落不正确",
    ),
    "evaluation.more": ("and {n:,} more", "另有 {n:,} 个"),
    "evaluation.all_first": ("Every question has a right passage in first place.", "每个问题的首位段落都正确。"),
    "evaluation.settings": ("Settings and versions", "设置与版本"),
    "runs.title": ("Two runs side by side", "两次评测对比"),
    "runs.choose": ("Choose a run before and one after:", "选择前后两次评测："),
    "runs.compare": ("Compare", "对比"),
    "runs.before": ("Before", "之前"),
    "runs.after": ("After", "之后"),
    "runs.swap": ("Swap", "互换"),
    "runs.notices": (
        "{n:,} more thing differs between them|{n:,} more things differ between them",
        "两次评测还有 {n:,} 处不同",
    ),
    "runs.final": ("What users got", "用户得到的结果"),
    "runs.counts": (
        "{n:,} question: {better:,} better, {worse:,} worse, {equal:,} as before, by the rank of the first "
        "right passage|"
        "{n:,} questions: {better:,} better, {worse:,} worse, {equal:,} as before, by the rank of the first "
        "right passage",
        "共 {n:,} 个问题：按首个正确段落的名次，{better:,} 个变好，{worse:,} 个变差，{equal:,} 个不变",
    ),
    "runs.metric": ("Metric", "指标"),
    "runs.difference": ("Difference", "差值"),
    "runs.interval": ("95 % interval", "95 % 区间"),
    "runs.verdict": ("Verdict", "结论"),
    "runs.better": ("better", "变好"),
    "runs.worse": ("worse", "变差"),
    "runs.even": ("no difference beyond chance", "差异不超出偶然"),
    "runs.won": ("{n:,} question became better|{n:,} questions became better", "{n:,} 个问题变好"),
    "runs.lost": ("{n:,} question became worse|{n:,} questions became worse", "{n:,} 个问题变差"),
    "runs.how": (
        "p is how often chance alone makes a difference at least as large: 10,000 random swaps of the two "
        "runs, question by question. Below 0.05 it is called better or worse. A question leads to a search for it.",
        "p 表示仅凭偶然出现同样大差值的频率：逐题随机交换两次评测 10,000 次。小于 0.05 才称为变好或变差。"
        "点击问题可重新检索。",
    ),
}
