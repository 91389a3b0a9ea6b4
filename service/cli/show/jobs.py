"""The list of jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

_STYLES = {"ready": "green", "ready_with_warnings": "yellow", "failed": "red", "cancelled": "dim"}


def draw_jobs(console: Console, answer: Mapping[str, Any]) -> None:
    """Draw one page of `JobList`, two or three lines a job."""
    jobs = answer["jobs"]
    if not jobs:
        console.print("no jobs" + (f" on this page ({answer['total']} in all)" if answer["total"] else ""))
        return
    for job in jobs:
        _draw(console, job)
    first, last = answer["offset"] + 1, answer["offset"] + len(jobs)
    more = f"; more: --offset {last}" if last < answer["total"] else ""
    console.print(Text(f"{first}–{last} of {answer['total']}{more}", style="dim"))


def _draw(console: Console, job: Mapping[str, Any]) -> None:
    console.print(Text(job["source"], style="bold"), soft_wrap=True)
    status = Text(job["status"], style=_STYLES.get(job["status"], "cyan"))
    facts = [job["job_id"], job["collection"], f"attempt {job['attempts']}"]
    if job["child_count"]:
        facts.append(f"{job['done_count']:,} of {job['child_count']:,} chunks, {job['reused_count']:,} known before")
    console.print(Text.assemble("  ", status, (" · " + " · ".join(facts), "dim")), soft_wrap=True)
    if job["error_code"]:
        reason = f"  {job['error_code']} in step {job['failed_stage'] or '—'}: {job['error_message']}"
        console.print(Text(reason, style="red" if job["status"] == "failed" else "yellow"), soft_wrap=True)
