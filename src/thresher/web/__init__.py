"""The HTTP server and its web page; a thin layer over the finder. Needs the extra `serve`."""
