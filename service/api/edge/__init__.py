"""HTTP around the routes: request ids, errors, body limits, streamed uploads, file names in headers."""
