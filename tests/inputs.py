"""Where the test inputs are: beside the repository, or where ``FUZI_SHARED`` says."""

from __future__ import annotations

import os
from pathlib import Path

SHARED = Path(os.environ.get("FUZI_SHARED") or Path(__file__).parents[1] / "../shared").resolve()
