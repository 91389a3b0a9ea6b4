"""Open the store that the settings name."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote, urlsplit

from obstore.store import LocalStore, S3Store

from service.config import OriginalsSettings
from service.errors import Misconfigured
from service.store.originals.bucket import Bucket
from service.store.originals.folder import Folder
from service.store.originals.object_store import Clock, IdMaker, Originals
from service.store.originals.signature import S3Credentials

_ENDLESS = timedelta(days=1)
"""A download may take as long as its reader does; a server that falls silent is noticed by ``timeout_seconds``."""


def open_originals(settings: OriginalsSettings, home: Path, now: Clock, new_id: IdMaker) -> Originals:
    """Open the configured object store, by default the folder ``originals`` below ``home``.

    Raises:
        Misconfigured: the folder cannot be made, or the settings are none that an S3 client can work with.
    """
    parts = urlsplit(settings.url or "")
    if parts.scheme == "s3":
        return Originals(*_open_bucket(settings, parts.netloc, unquote(parts.path).strip("/")), now, new_id)
    # absolute, since the embedded shape may be given a relative home
    root = (Path(unquote(parts.path)) if settings.url else home / "originals").absolute()
    try:
        store = LocalStore(root, automatic_cleanup=True, mkdir=True)
    except Exception as error:  # obstore maps this to different classes by platform
        raise Misconfigured(f"the folder {root} of the originals cannot be made: {error}") from error
    return Originals(store, Folder(root), now, new_id)


def _open_bucket(settings: OriginalsSettings, bucket: str, prefix: str) -> tuple[S3Store, Bucket]:
    endpoint = (settings.endpoint or f"https://s3.{settings.region}.amazonaws.com").rstrip("/")
    by_path = f"{endpoint}/{bucket}"
    by_host = endpoint.replace("://", f"://{bucket}.", 1)
    keys = None
    if settings.access_key is not None and settings.secret_key is not None:
        keys = {
            "access_key_id": settings.access_key,
            "secret_access_key": settings.secret_key.get_secret_value(),
        }
    store = S3Store(
        bucket,
        prefix=prefix or None,
        region=settings.region,
        # obstore puts the bucket into the path by itself, but not into the host name
        endpoint=by_host if settings.virtual_hosted else endpoint,
        virtual_hosted_style_request=settings.virtual_hosted,
        client_options={
            "allow_http": settings.allow_http,
            "connect_timeout": timedelta(seconds=settings.connect_timeout_seconds),
            "read_timeout": timedelta(seconds=settings.timeout_seconds),
            "timeout": _ENDLESS,
        },
        retry_config={
            "max_retries": settings.retries,
            "retry_timeout": timedelta(seconds=settings.retry_seconds),
            "backoff": {
                "init_backoff": timedelta(milliseconds=100),
                "max_backoff": timedelta(seconds=10),
                "base": 2,
            },
        },
        **(keys or {}),  # type: ignore[arg-type]
    )
    credentials = S3Credentials(settings.access_key, settings.secret_key) if keys else None  # type: ignore[arg-type]
    return store, Bucket(bucket, by_host if settings.virtual_hosted else by_path, prefix, settings.region, credentials)
