"""Pure functions of tensors, independent of text and models; import only torch."""
