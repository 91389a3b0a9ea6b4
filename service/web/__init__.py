"""The web console: pages made on the server, which work without JavaScript and better with it.

``pages`` answers requests, ``view`` makes what pages show, ``words`` has every text in English and Chinese.
"""

from service.web.console import UPLOAD_PATH, add_console

__all__ = ["UPLOAD_PATH", "add_console"]
