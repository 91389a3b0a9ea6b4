"""What routes ask for."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends, Request

from service.wiring import Services


# FastAPI would take a thread for one that is not asynchronous
async def _services(request: Request) -> Services:
    return cast(Services, request.app.state.services)


OpenServices = Annotated[Services, Depends(_services)]
"""The parts of the running service."""
