"""The longest sources can be stored, whatever they are made of; longer ones are refused, by characters or by bytes."""

from __future__ import annotations

import random

import pytest

from tests.api.conftest import Api, problem

_NOISE = random.Random(1)


def _noise(characters: int, first: int, last: int) -> str:
    """Text that does not compress: an index entry of PostgreSQL holds 2,704 bytes and no more."""
    return "".join(chr(_NOISE.randint(first, last)) for _ in range(characters))


@pytest.mark.parametrize(("first", "last"), [(0x4E00, 0x9FA5), (0x20000, 0x2A6D0)], ids=["three bytes", "four bytes"])
async def test_a_long_source_is_stored_or_refused(api: Api, first: int, last: int) -> None:
    for characters in (400, 500, 600, 1024):
        source = _noise(characters, first, last)
        response = await api.upload("a.txt", f"内容{characters}。", source=source)
        assert response.status_code in {201, 422}, response.text
        if response.status_code == 201:
            assert (await api.http.get("/v1/documents", params={"source": source})).json()["total"] == 1
        else:
            assert problem(response)["code"] == "invalid_input"
            assert "bytes" in problem(response)["message"]
    assert len(api.originals()) == await api.total()
