"""POST /v1/answer."""

# No postponed annotations in this file: the body's type is made from the settings when the router is.

from typing import Annotated, Any, cast

from fastapi import APIRouter, Header, Request, Response

from service.api.access import READ, Caller
from service.api.answer.events import EventResponse
from service.api.answer.held import Answers, HeldAnswer
from service.api.answer.request import AnswerBody, bounded_answer_body
from service.api.answer.schemas import CompletedAnswer, ContentAnswer, FoundAnswer, WholeAnswer, whole_answer
from service.api.edge.admission import Admission
from service.api.edge.connected import while_connected
from service.api.edge.dependencies import OpenServices
from service.config import SearchSettings
from service.flows.answer import find, write

_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
        "description": "Events: `search_results`, then `content` until `complete` or `error`; or the whole as JSON",
    },
    204: {"description": "The event of `Last-Event-ID` was the last one"},
}


def answer_router(settings: SearchSettings) -> APIRouter:
    """Return the route with the defaults and bounds of these settings."""
    router = APIRouter(prefix="/v1", tags=["answer"])
    body_type = bounded_answer_body(settings)

    @router.post(
        "/answer", summary="Answer a question", dependencies=[READ], response_model=WholeAnswer, responses=_RESPONSES
    )
    async def answer_question(
        request: Request,
        body: body_type,  # type: ignore[valid-type]
        services: OpenServices,
        caller: Caller,
        last_event_id: Annotated[
            str | None, Header(description="go on behind this event of an answer that is still held")
        ] = None,
    ) -> WholeAnswer | Response:
        """Search, and let the chat model answer from the passages, with citations; without one, by their sentences.

        Streams events by default. Every stream ends with `complete` or `error`; one that does not was cut, and the
        same request with the header `Last-Event-ID` goes on with it.
        """
        body = cast(AnswerBody, body)
        answers: Answers = request.app.state.answers
        admission: Admission = request.app.state.admission
        asked, after = body.to_request(settings, within=caller.visible()), 0
        if last_event_id is not None:
            held, after = answers.resume(last_event_id, caller, asked)
            if held.is_ended and after == len(held.events):
                return Response(status_code=204)
        else:
            parts = services.for_answer
            answers.make_room()
            # the place is given back before the model begins to write
            async with admission.place():
                found = await while_connected(request, find(parts, asked))
            held = answers.begin(caller, asked, found, write(parts, asked, found), request.state.request_id)
        if not body.stream:
            try:
                return await while_connected(request, _whole(held))
            finally:
                answers.drop(held)
        return EventResponse(held.follow(after, services.settings.chat.heartbeat_seconds))

    return router


async def _whole(held: HeldAnswer) -> WholeAnswer:
    """Wait until an answer is whole.

    Raises:
        FuziError: the one that ended it.
    """
    async for _ in held.follow(0, heartbeat_seconds=3600):
        pass
    if held.failure is not None:
        raise held.failure
    first, *contents, last = held.events
    found, completed = FoundAnswer.model_validate_json(first.data), CompletedAnswer.model_validate_json(last.data)
    text = "".join(ContentAnswer.model_validate_json(content.data).text for content in contents)
    return whole_answer(found, text, completed)
