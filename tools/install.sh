#!/bin/sh
# Make .venv from requirements.lock with a Python that fits; do nothing when it is there and nothing has changed.
# Called by make. PYTHON=… in the environment names the Python to use; --bare makes .venv and installs nothing.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'fuzi: %s\n' "$*" >&2; }

state() { cat requirements.lock pyproject.toml | cksum; }

# Say why a Python does not fit; say nothing when it does.
unfit() {
    "$1" -c '
import sys
version = sys.version.split()[0]
if sys.version_info < (3, 12):
    sys.exit(version + " is older than 3.12")
if sys.version_info >= (3, 15):
    sys.exit(version + " is newer than 3.14, for which the embedded PostgreSQL has no package yet")
try:
    import ensurepip, venv
except ImportError:
    name = "python%d.%d-venv" % sys.version_info[:2]
    sys.exit(version + " lacks the module venv or ensurepip (Debian, Ubuntu: apt-get install " + name + ")")
' 2>&1 >/dev/null || true
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        command -v "$PYTHON" >/dev/null || { say "PYTHON=$PYTHON is no command"; return 1; }
        reason=$(unfit "$PYTHON")
        [ -z "$reason" ] || { say "PYTHON=$PYTHON: $reason"; return 1; }
        echo "$PYTHON"
        return
    fi
    seen=""
    for name in python3.12 python3.13 python3.14 python3 python \
        "$HOME"/.pyenv/versions/3.1[234]*/bin/python "$HOME"/.local/share/uv/python/cpython-3.1[234]*/bin/python3; do
        path=$(command -v "$name") || continue
        reason=$(unfit "$path")
        [ -n "$reason" ] || { echo "$path"; return; }
        seen="$seen
  $path: $(printf '%s' "$reason" | head -n 1)"
    done
    say "no Python fits; Python 3.12, 3.13 or 3.14 is needed.${seen:-
  none was found}"
    say "install one (Debian 13, Ubuntu 24.04: apt-get install python3-venv; elsewhere pyenv or uv), or name one: make PYTHON=/path/to/python3.13"
    return 1
}

install() {
    if ! .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@"; then
        if ! command -v "${CC:-cc}" >/dev/null && ! command -v gcc >/dev/null && ! command -v clang >/dev/null; then
            say "there is no C compiler, which packages without a ready-made wheel for this machine need"
            say "(Debian, Ubuntu: apt-get install gcc libc6-dev python3-dev; macOS: xcode-select --install)"
        fi
        say "installing failed; run make again once the cause above is gone"
        exit 1
    fi
}

# A virtual environment holds its own path in every script, so a moved one is made anew.
if [ "$(cat .venv/folder 2>/dev/null)" != "$(pwd)" ] || ! .venv/bin/python -c '' 2>/dev/null ||
    [ ! -e .venv/bin/pip ]; then
    python=$(find_python)
    say "making .venv with $python; the first installation takes a minute or two"
    rm -rf .venv
    "$python" -m venv .venv
    pwd >.venv/folder
fi
[ "${1:-}" != --bare ] || exit 0
[ "$(cat .venv/installed 2>/dev/null)" != "$(state)" ] || exit 0
say "installing what requirements.lock names"
install -r requirements.lock
install --no-deps --no-build-isolation -e .
state >.venv/installed
