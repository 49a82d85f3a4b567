"""Pure functions of tensors; imports torch alone."""
