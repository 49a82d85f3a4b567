"""Gates over words and their training: what `entities` and `rationales` share.

A selector reads the vector of each word (`features`, `word_vectors`) and gives it a
HardKumaraswamy gate. Training minimises a sum of terms (`objective`, `contrast`, `variants`), some
of them held at a target by a Lagrange multiplier (`lagrangian`), in batches of similar length
(`batching`) with one way to take a step (`optimization`), and reports gates that collapse
(`lagrangian`). Several processes can train together (`contrast`).
"""
