"""``fuzi reembed``: change the embedding model without downtime."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.options import JsonFlag
from service.cli.output import Output, reporting
from service.cli.settings import load_settings

if TYPE_CHECKING:
    from service.config import Settings
    from service.flows.reembed.change import Done, ReembedParts


class Provider(StrEnum):
    """The adapters of `FUZI_EMBED__PROVIDER`."""

    LOCAL = "local"
    OPENAI = "openai"
    NVIDIA = "nvidia"
    OLLAMA = "ollama"
    DASHSCOPE = "dashscope"


@dataclass(frozen=True, slots=True)
class _Target:
    provider: str | None
    model: str | None
    dimension: int | None
    base_url: str | None

    @property
    def is_named(self) -> bool:
        """Whether anything of it was said, instead of left to the settings."""
        return any((self.provider, self.model, self.dimension, self.base_url))


def reembed(
    provider: Annotated[Provider | None, typer.Option(help="Adapter of the new model.")] = None,
    model: Annotated[str | None, typer.Option(help="Its name at the provider.")] = None,
    dimension: Annotated[
        int | None, typer.Option(min=1, max=4000, help="Numbers in a vector; left out, the model is asked.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="Where it is, when not at its own place.")] = None,
    and_switch: Annotated[
        bool, typer.Option("--switch/--no-switch", help="Switch when all is ready, or stop there to look first.")
    ] = True,
    back: Annotated[bool, typer.Option("--rollback", help="Go back to the model that was active before.")] = False,
    drop: Annotated[bool, typer.Option("--drop-old", help="Drop the space that is not active.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Show both spaces, change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Drop without asking.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Change the embedding model while searches and uploads go on.

    Examples:
      fuzi reembed --provider openai --model bge-m3 --base-url http://models:8080/v1
      FUZI_EMBED__VECTOR_TYPE=halfvec fuzi reembed
      fuzi reembed --status
      fuzi reembed --rollback
      fuzi reembed --drop-old --yes

    The stored text of every chunk is embedded anew into a second space, beside the one in use; then it is indexed,
    and one short transaction switches. Until then nothing changes for anyone. The command may be stopped or killed at
    any moment: run it again and it goes on, nothing is embedded (or paid for) twice. Left-out options are those of
    the settings.

    Keys never stand on the command line. Set FUZI_EMBED__STANDBY_API_KEY to the key of the new model, here and for
    every running `fuzi serve` and `fuzi worker`: they follow the switch by themselves. One that cannot answers by
    words alone, with the warning `vector_unavailable`. Before its next start every process needs the variables that
    this command prints at its end; one with other settings refuses to start and says so.

    When the settings name the model in use, but another FUZI_EMBED__VECTOR_TYPE than its vectors have, these are copied
    into that type: no model is asked, and the former ones are dropped, so there is no way back to four bytes a number.

    The former space stays for --rollback until --drop-old. To look before you switch: --no-switch, then compare
    `embedding` and `embedding_standby` of rag.child_chunk in SQL.

    With --json: {switched, copied, filled, embedded, bm25_segments, active, standby, settings}.
    """
    of_new_model = any((provider, model, dimension, base_url)) or not and_switch
    if sum((back, drop, status)) > 1 or ((back or drop or status) and of_new_model):
        raise typer.BadParameter("--rollback, --drop-old, --status and the options of a new model exclude each other")
    if drop and not yes and (as_json or not sys.stdin.isatty()):
        raise typer.BadParameter("nobody can be asked here: add --yes")
    with reporting(as_json) as output:
        settings = load_settings()
        if status:
            asyncio.run(_status(settings, output))
        elif drop:
            if not yes:
                typer.confirm(
                    "Drop the space that is not active? A rollback is not possible then", abort=True, err=True
                )
            asyncio.run(_drop(settings, output))
        else:
            target = None if back else _Target(provider, model, dimension, base_url)
            asyncio.run(_change(settings, output, target, and_switch=and_switch))


async def _status(settings: Settings, output: Output) -> None:
    from service.cli.reembed.summary import draw_state, state_json
    from service.db.engine import database_errors
    from service.flows.reembed.change import spaces_state
    from service.wiring import open_reembed

    async with open_reembed(settings) as parts:
        with database_errors():
            state = await spaces_state(parts.engine)
    if output.as_json:
        output.result(state_json(state))
    else:
        draw_state(output.console, state)


async def _drop(settings: Settings, output: Output) -> None:
    from service.db.engine import database_errors
    from service.flows.reembed.change import drop_old
    from service.wiring import open_reembed

    async with open_reembed(settings) as parts:
        with database_errors():
            dropped = await drop_old(parts.engine)
    if output.as_json:
        output.result({"dropped": None if dropped is None else dropped.title})
    else:
        output.console.print("there is only one space" if dropped is None else f"dropped {dropped.title}", markup=False)


async def _change(settings: Settings, output: Output, target: _Target | None, *, and_switch: bool) -> None:
    from service.cli.reembed.summary import done_json, draw_done
    from service.wiring import open_reembed

    async with open_reembed(settings) as parts:
        done = await _run(parts, settings, output, target, and_switch=and_switch)
    if output.as_json:
        output.result(done_json(done))
    else:
        draw_done(output.console, done)


async def _run(
    parts: ReembedParts, settings: Settings, output: Output, target: _Target | None, *, and_switch: bool
) -> Done:
    from service.cli.reembed.progress import ReembedProgress
    from service.db.engine import database_errors
    from service.flows.reembed.change import reembed as change
    from service.flows.reembed.change import rollback
    from service.flows.reembed.target import space_in_use, target_space

    with database_errors(), ReembedProgress(output.notes) as progress:
        if target is None:
            return await rollback(parts, progress)
        space = None if target.is_named else await space_in_use(parts.engine, settings.embed)
        if space is None:
            progress.stage("asking the model")
            space = await target_space(settings.embed, target.provider, target.model, target.dimension, target.base_url)
        return await change(parts, space, progress, and_switch=and_switch)
