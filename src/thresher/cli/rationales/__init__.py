"""The commands `thresher rationale …`."""
