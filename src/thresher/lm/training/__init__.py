"""Train a language model: settings, batches, optimizer, training loop, checkpoints."""
