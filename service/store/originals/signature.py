"""AWS signature, version 4, of requests without a body.

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx
from pydantic import SecretStr

_NO_BODY = hashlib.sha256(b"").hexdigest()
_SIGNED = ("host", "x-amz-content-sha256", "x-amz-date")


@dataclass(frozen=True, slots=True)
class S3Credentials:
    """An access key and its secret."""

    access_key: str
    secret_key: SecretStr


def signed_headers(
    method: str, url: httpx.URL, region: str, credentials: S3Credentials, now: datetime | None = None
) -> dict[str, str]:
    """Return the headers that prove who sends this request; the URL's query must be sorted and quoted."""
    moment = f"{now or datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    headers = {"host": url.netloc.decode(), "x-amz-content-sha256": _NO_BODY, "x-amz-date": moment}
    path, _, query = url.raw_path.decode().partition("?")
    lines = [f"{name}:{headers[name]}" for name in _SIGNED]
    request = "\n".join([method, path, query, *lines, "", ";".join(_SIGNED), _NO_BODY])
    scope = f"{moment[:8]}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(request.encode()).hexdigest()])
    key = f"AWS4{credentials.secret_key.get_secret_value()}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    proof = f"Credential={credentials.access_key}/{scope}, SignedHeaders={';'.join(_SIGNED)}, Signature={signature}"
    return {**headers, "authorization": f"AWS4-HMAC-SHA256 {proof}"}
