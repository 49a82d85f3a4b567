"""Read and write annotations; one module per format."""
