"""HTTP below the routes: request ids, body limits, streamed uploads, file names in headers."""
