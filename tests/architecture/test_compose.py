"""What can be known of docker-compose.yml, Dockerfile and .dockerignore without a Docker engine."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from pydantic import BaseModel

from service.cli.app import app
from service.config import JobSettings, ServerSettings, Settings

REPOSITORY = Path(__file__).parents[2]
OWN_SERVICES = ("migrate", "api", "worker")


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
    assert set(services) >= {"postgres", "tika", "minio", "migrate", "api", "worker", "ollama", "tei"}
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


def test_the_file_follows_the_specification() -> None:
    """The schema is that of the Compose specification, as check-jsonschema ships it."""
    program = Path(sys.executable).with_name("check-jsonschema")
    file = REPOSITORY / "docker-compose.yml"
    done = subprocess.run(
        [program, "--builtin-schema", "vendor.compose-spec", file], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_variables_of_the_shell_have_defaults_and_are_explained(compose: dict[str, Any]) -> None:
    text = (REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"\$\{(\w+)", text))
    assert named == set(re.findall(r"\$\{(\w+):?-[^}]+\}", text)), "compose warns of a variable without a default"
    assert named == set(re.findall(r"^\| `([A-Z_]+)` \|", operating_section("Compose"), re.MULTILINE))


def test_the_page_lists_every_service_with_its_image_port_and_profile(compose: dict[str, Any]) -> None:
    found = re.findall(r"^\| `([a-z-]+)` \| `([^`]+)` \| ([^|]*) \|", operating_section("Compose"), re.MULTILINE)
    listed = {name: (image, rest.strip().strip("`")) for name, image, rest in found}
    wanted = {}
    for name, service in compose["services"].items():
        ports = [port.removeprefix("127.0.0.1:").split(":")[0] for port in service.get("ports", [])]
        profiles = [f"profile {profile}" for profile in service.get("profiles", [])]
        wanted[name] = (service["image"], ", ".join(ports + profiles) or "—")
    assert listed == wanted


def operating_section(title: str) -> str:
    page = (REPOSITORY / "docs" / "operating.md").read_text(encoding="utf-8")
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_nobody_without_a_profile_needs_somebody_with_one(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for name, service in services.items():
        for other in service.get("depends_on", {}):
            assert set(services[other].get("profiles", [])) <= set(service.get("profiles", [])), f"{name} needs {other}"


def test_what_a_profile_asks_of_the_settings_is_accepted(
    compose: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8")
    given = dict(re.findall(r"\b(FUZI_(?:EMBED|RERANK)__\w+)=([^\s,]+)", text))
    assert len(given) == 6
    for variable, value in given.items():
        monkeypatch.setenv(variable, value)
    settings = Settings(_env_file=None)
    assert settings.embed.base_url == "http://ollama:11434"
    assert settings.rerank.base_url == "http://tei:80"
    assert compose["services"]["ollama-model"]["command"] == ["pull", settings.embed.model]


@pytest.mark.parametrize("name", OWN_SERVICES)
def test_our_services_run_commands_that_there_are(compose: dict[str, Any], name: str) -> None:
    program, command, *options = compose["services"][name]["command"]
    assert program == "fuzi"
    parameters = typer.main.get_command(app).commands[command].params  # type: ignore[attr-defined]
    known = {option for parameter in parameters for option in parameter.opts}
    assert {option for option in options if option.startswith("--")} <= known


def test_ports_agree(compose: dict[str, Any]) -> None:
    api, worker = compose["services"]["api"], compose["services"]["worker"]
    default = ServerSettings().port
    assert api["ports"] == [f"127.0.0.1:{default}:{default}"]
    assert ["EXPOSE", str(default)] in instructions()
    (check,) = [" ".join(words) for words in instructions() if words[0] == "HEALTHCHECK"]
    assert f"'127.0.0.1', {default}" in check
    port = worker["command"][worker["command"].index("--metrics-port") + 1]
    assert f"'127.0.0.1', {port}," in worker["healthcheck"]["test"][-1]


@pytest.mark.parametrize("status", [200, 401, 503])
def test_a_worker_is_alive_whatever_it_answers(compose: dict[str, Any], status: int) -> None:
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

    kind, _python, *arguments = compose["services"]["worker"]["healthcheck"]["test"]
    assert kind == "CMD"
    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        port = server.server_port
        probe = [sys.executable, *(argument.replace("9464", str(port)) for argument in arguments)]
        with ThreadPoolExecutor() as pool:
            answering = pool.submit(server.handle_request)
            assert subprocess.run(probe, check=False).returncode == 0
            answering.result()
    assert subprocess.run(probe, check=False, capture_output=True).returncode != 0, "nobody listens any more"


def test_our_services_may_little_and_have_time_to_stop(compose: dict[str, Any]) -> None:
    for name in OWN_SERVICES:
        service = compose["services"][name]
        assert (service["cap_drop"], service["security_opt"]) == (["ALL"], ["no-new-privileges:true"])
        assert service["init"] is True
        assert "user" not in service, "that of the image"
    inside = compose["services"]["api"]["environment"]["FUZI_JOBS__INSIDE_SERVE"]
    assert inside == "false", "the worker works"
    assert seconds(compose["services"]["api"]["stop_grace_period"]) > ServerSettings().graceful_seconds
    assert seconds(compose["services"]["worker"]["stop_grace_period"]) > JobSettings().graceful_seconds


def seconds(duration: str) -> int:
    return int(duration.removesuffix("s"))


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
    assert {"fuzi", "service", "migrations", "sql", "README.md", "LICENSE"} <= set(copied), (
        "the wheel is built from these"
    )


def test_image_runs_as_an_unprivileged_user_and_is_watched() -> None:
    names = [words[0] for words in instructions()]
    last_stage = len(names) - names[::-1].index("FROM")
    users = [words[1] for words in instructions()[last_stage:] if words[0] == "USER"]
    assert users
    assert users[-1] not in {"root", "0"}
    assert "HEALTHCHECK" in names[last_stage:]
