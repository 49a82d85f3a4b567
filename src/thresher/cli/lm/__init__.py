"""The commands `thresher lm …`."""
