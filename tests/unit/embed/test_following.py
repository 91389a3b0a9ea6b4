"""The settings of a process, turned to the model that the database changed to."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from service.config import EmbedSettings
from service.db.spaces import EmbeddingSpace
from service.embed.following import settings_of, variables
from service.errors import EmbedderUnavailable
from service.types import EmbeddingModel

_OPENAI, _OWN = "https://api.openai.com/v1", "http://models:8080/v1"


def _space(provider: str, base_url: str | None = None, name: str = "new") -> EmbeddingSpace:
    return EmbeddingSpace(EmbeddingModel(provider, name, 8), base_url)


def _settings(provider: str = "openai", *, standby: str | None = None, base_url: str | None = None) -> EmbedSettings:
    return EmbedSettings.model_validate({
        "provider": provider, "model": "old", "dimension": 4, "api_key": "old-key", "standby_api_key": standby,
        "base_url": base_url,
    })  # fmt: skip


def _key(settings: EmbedSettings) -> str | None:
    return None if settings.api_key is None else settings.api_key.get_secret_value()


@pytest.mark.parametrize(
    ("settings", "space", "key"),
    [
        (_settings(), _space("openai"), "old-key"),
        (_settings(), _space("openai", _OPENAI), "old-key"),
        (_settings(base_url=_OWN), _space("openai", _OWN), "old-key"),
        (_settings(), _space("dashscope"), None),
        (_settings(), _space("openai", _OWN), None),
        (_settings(base_url=_OWN), _space("openai", _OPENAI), None),
        (_settings(standby="new-key"), _space("openai", _OWN), "new-key"),
        (_settings(standby="new-key"), _space("openai"), "new-key"),
        (_settings("local"), _space("openai", _OWN), "old-key"),
    ],
)
def test_a_key_goes_to_nobody_but_the_provider_it_was_meant_for(
    settings: EmbedSettings, space: EmbeddingSpace, key: str | None
) -> None:
    followed = settings_of(space, settings)
    assert _key(followed) == key
    assert (followed.provider, followed.model, followed.dimension) == (space.model.provider, "new", 8)
    assert followed.base_url in ({None, _OWN} if space.base_url in {None, _OWN} else {None})


def test_the_own_model_is_reached_as_the_settings_say() -> None:
    settings = _settings(standby="new-key").model_copy(update={"send_dimension": True})
    own = EmbeddingSpace(EmbeddingModel("openai", "old", 4), _OPENAI)
    assert settings_of(own, settings) == settings


def test_a_model_of_a_later_version_is_no_crash() -> None:
    with pytest.raises(EmbedderUnavailable, match="does not know"):
        settings_of(_space("tomorrow"), EmbedSettings(api_key=SecretStr("x")))


def test_variables_name_what_the_adapter_does_not_know_itself() -> None:
    assert variables(_space("openai", _OPENAI)) == {
        "FUZI_EMBED__PROVIDER": "openai", "FUZI_EMBED__MODEL": "new", "FUZI_EMBED__DIMENSION": "8",
    }  # fmt: skip
    assert variables(_space("openai", _OWN))["FUZI_EMBED__BASE_URL"] == _OWN
