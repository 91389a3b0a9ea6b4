"""What can be known of docker-compose.yml, Dockerfile and .dockerignore without a Docker engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from service.config import Settings

REPOSITORY = Path(__file__).parents[2]
OWN_SERVICES = ("migrate", "api")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8"))


def instructions() -> list[list[str]]:
    """The Dockerfile's instructions, one list of words each."""
    text = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def variables(model: type[BaseModel], prefix: str = "FUZI_") -> Iterator[str]:
    """Names of the environment variables that set a field of ``model``."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from variables(field.annotation, f"{prefix}{name.upper()}__")
        else:
            yield f"{prefix}{name.upper()}"


def filled_in(value: object) -> str:
    """``value`` as compose passes it on when the shell sets nothing."""
    return re.sub(r"\$\{\w+:?-([^}]*)\}", r"\1", str(value))


def test_every_fuzi_variable_is_a_setting(compose: dict[str, Any]) -> None:
    known = set(variables(Settings))
    assert {"FUZI_HOME", "FUZI_DATABASE__URL"} <= known
    for file in ("docker-compose.yml", "Dockerfile"):
        named = set(re.findall(r"\bFUZI_\w+", (REPOSITORY / file).read_text(encoding="utf-8")))
        assert named, file
        assert named <= known, file


@pytest.mark.parametrize("name", OWN_SERVICES)
def test_settings_of_our_services_are_accepted(
    compose: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in compose["services"][name]["environment"].items():
        monkeypatch.setenv(variable, filled_in(value))
    settings = Settings(_env_file=None)
    url = settings.database.url
    assert url is not None
    assert url.get_secret_value() == "postgresql://fuzi:fuzi@postgres:5432/fuzi"
    assert (settings.extract.adapter, settings.extract.tika_url) == ("server", "http://tika:9998")
    assert (settings.originals.url, settings.originals.endpoint) == ("s3://fuzi", "http://minio:9000")
    assert settings.originals.allow_http


def test_passwords_agree_between_services(compose: dict[str, Any]) -> None:
    services = compose["services"]
    postgres, minio, api = (services[name]["environment"] for name in ("postgres", "minio", "api"))
    assert f"{postgres['POSTGRES_USER']}:{postgres['POSTGRES_PASSWORD']}@" in api["FUZI_DATABASE__URL"]
    assert api["FUZI_DATABASE__URL"].endswith(f"/{postgres['POSTGRES_DB']}")
    assert api["FUZI_ORIGINALS__ACCESS_KEY"] == minio["MINIO_ROOT_USER"]
    assert api["FUZI_ORIGINALS__SECRET_KEY"] == minio["MINIO_ROOT_PASSWORD"]
    assert f"/data/{api['FUZI_ORIGINALS__URL'].removeprefix('s3://')} " in " ".join(minio_command(compose))


def minio_command(compose: dict[str, Any]) -> list[str]:
    return compose["services"]["minio"]["entrypoint"]


def test_everything_named_is_there(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) >= {"postgres", "tika", "minio", "migrate", "api"}
    mounted = set()
    for name, service in services.items():
        assert set(service.get("depends_on", {})) <= set(services), name
        mounted |= {volume.split(":")[0] for volume in service.get("volumes", [])}
    assert mounted == set(compose["volumes"])
    for host in re.findall(r"(?:https?://|@)([a-z]+):\d+", " ".join(map(str, services["api"]["environment"].values()))):
        assert host in services


def test_who_is_waited_for_can_say_that_it_is_ready(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        for other, wait in service.get("depends_on", {}).items():
            if wait["condition"] == "service_healthy":
                assert "test" in compose["services"][other]["healthcheck"], f"{name} waits for {other}"
            else:
                assert wait["condition"] == "service_completed_successfully"
                assert compose["services"][other].get("restart") != "unless-stopped"


def test_images_are_pinned_and_ports_stay_on_loopback(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        if "build" not in service:
            assert re.search(r":[\w.-]*\d[\w.-]*$", service["image"]), name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name


def test_image_of_postgresql_is_new_enough(compose: dict[str, Any]) -> None:
    found = re.fullmatch(r"paradedb/paradedb:(\d+)\.(\d+)\.\d+-pg17", compose["services"]["postgres"]["image"])
    assert found is not None
    assert (int(found[1]), int(found[2])) >= (0, 24), "older ones do not log the BM25 index"


def test_image_is_built_from_files_that_reach_it() -> None:
    patterns = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_in = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    assert "*" in patterns
    copied = [
        source
        for name, *words in instructions()
        if name == "COPY" and not words[0].startswith("--from=")
        for source in words[:-1]
    ]
    for source in copied:
        assert (REPOSITORY / source).exists(), source
        assert any(fnmatch(source, pattern) for pattern in let_in), f".dockerignore keeps {source} out"
    assert {"service", "migrations", "sql", "README.md", "LICENSE"} <= set(copied), "the wheel is built from these"


def test_image_runs_as_an_unprivileged_user_and_is_watched() -> None:
    names = [words[0] for words in instructions()]
    last_stage = len(names) - names[::-1].index("FROM")
    users = [words[1] for words in instructions()[last_stage:] if words[0] == "USER"]
    assert users
    assert users[-1] not in {"root", "0"}
    assert "HEALTHCHECK" in names[last_stage:]
