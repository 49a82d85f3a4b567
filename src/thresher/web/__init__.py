"""A server and its page: thin, no logic of their own. Needs the extra `serve`."""
