"""Kill, starve and mislead the commands, and check that nothing is lost."""
