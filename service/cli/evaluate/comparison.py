"""A comparison of two results as tables."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from service.cli.evaluate.tables import show_notices
from service.evaluate.figures.intervals import LEVEL, Difference
from service.evaluate.kept.compare import Comparison, StageComparison


def show_comparison(console: Console, before: str, after: str, comparison: Comparison) -> None:
    """Each stage: figures before and after, the difference with interval and p-value, the questions that changed."""
    console.print(Text.assemble(("before ", "bold"), before, ("  after ", "bold"), after), soft_wrap=True)
    show_notices(console, comparison.notices)
    for stage in comparison.stages:
        _show_stage(console, stage)


def verdict(difference: Difference) -> str:
    """Whether a difference is more than chance, in a word."""
    if difference.p_value >= LEVEL:
        return "no difference beyond chance"
    return "better" if difference.value > 0 else "worse"


def _show_stage(console: Console, stage: StageComparison) -> None:
    same = stage.stage_before == stage.stage_after
    name = stage.stage_after if same else f"{stage.stage_before} → {stage.stage_after}"
    console.print()
    console.print(
        Text.assemble(
            (name, "bold"),
            f"  {stage.question_count:,} questions, {stage.improved} better and {stage.worsened} worse by mrr@10",
        )
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("metric", "before", "after", "difference", "95 % interval", "p", ""):
        table.add_column(column, justify="left" if column in {"metric", ""} else "right")
    for metric, found in stage.differences.items():
        style = "" if found.p_value >= LEVEL else "green" if found.value > 0 else "red"
        table.add_row(
            metric,
            f"{stage.before[metric]:.3f}",
            f"{stage.after[metric]:.3f}",
            f"{found.value:+.3f}",
            f"{found.low:+.3f} to {found.high:+.3f}",
            f"{found.p_value:.4f}",
            verdict(found),
            style=style,
        )
    console.print(table)
    for each in stage.changed:
        ranks = f"{_rank(each.rank_before)} → {_rank(each.rank_after)}"
        console.print(
            Text.assemble((f"{ranks:>10}  ", "green" if each.change > 0 else "red"), each.text), soft_wrap=True
        )


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
