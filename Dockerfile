# The service as a slim image. With `--build-arg EXTRAS=embedded` it brings PostgreSQL, Tika and the local model too.
FROM python:3.13-slim-trixie AS build
ARG EXTRAS=""
WORKDIR /source
RUN python -m venv /opt/fuzi
COPY requirements.lock pyproject.toml README.md LICENSE ./
COPY fuzi fuzi
COPY service service
COPY migrations migrations
COPY sql sql
# The lock serves as a list of versions only, so that neither test tools nor embedded parts come in by it.
RUN /opt/fuzi/bin/pip install --no-cache-dir --constraint requirements.lock ".${EXTRAS:+[$EXTRAS]}"

FROM python:3.13-slim-trixie
RUN useradd --system --uid 10001 --home-dir /var/lib/fuzi --create-home fuzi
COPY --from=build /opt/fuzi /opt/fuzi
ENV PATH=/opt/fuzi/bin:$PATH PYTHONUNBUFFERED=1 FUZI_HOME=/var/lib/fuzi FUZI_SERVER__HOST=0.0.0.0
USER fuzi
WORKDIR /var/lib/fuzi
VOLUME /var/lib/fuzi
EXPOSE 8000
# Alive, not ready: a service that waits for its database must not be killed for it.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 CMD ["python", "-c", \
    "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8000, timeout=4); c.request('GET', '/healthz'); exit(c.getresponse().status != 200)"]
CMD ["fuzi", "serve"]
