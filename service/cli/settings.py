"""Settings of a command: read once, complaints in one line, logs kept out of the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from service.errors import InvalidSettings

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

    from service.config import Settings


def load_settings(*, quiet: bool = True) -> Settings:
    """Read the settings and set up logs.

    Args:
        quiet: show errors only, unless ``FUZI_LOG__LEVEL`` says otherwise: a command tells its story itself.

    Raises:
        InvalidSettings: a variable is unknown or out of bounds; the message names it.
    """
    from pydantic import ValidationError

    from service.config import Settings
    from service.logs import configure_logs

    try:
        settings = Settings()
    except ValidationError as error:
        raise InvalidSettings(complaint(error, lambda name: f"FUZI_{name.replace('.', '__').upper()}")) from None
    if quiet and "level" not in settings.log.model_fields_set:
        configure_logs(settings.log.model_copy(update={"level": "error"}))
    else:
        configure_logs(settings.log)
    return settings


def with_options[Group: BaseModel](group: Group, options: dict[str, Any]) -> Group:
    """A group of settings with the given options in place; options that are None keep the setting.

    Raises:
        typer.BadParameter: the options contradict one another or the settings.
    """
    from pydantic import ValidationError

    given = {name: value for name, value in options.items() if value is not None}
    try:
        return type(group).model_validate({**group.model_dump(), **given})
    except ValidationError as error:
        raise typer.BadParameter(complaint(error, lambda name: f"--{name.replace('_', '-')}")) from None


def complaint(error: ValidationError, spell: Any) -> str:
    """All complaints of a validation in one line; ``spell`` turns a dotted field name into what the person wrote."""
    parts = []
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        place = ".".join(str(part) for part in item["loc"])
        message = item["msg"].removeprefix("Value error, ")
        parts.append(f"{spell(place)}: {message}" if place else message)
    return "; ".join(parts)
