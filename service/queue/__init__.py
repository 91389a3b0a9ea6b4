"""Jobs: uploads on their way into the indexes, durable from the moment they are accepted."""
