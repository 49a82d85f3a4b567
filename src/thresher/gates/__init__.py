"""What `entities` and `rationales` share: selector, objective, Lagrangian, word vectors."""
