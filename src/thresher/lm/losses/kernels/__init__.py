"""Implementations of the margin loss from hidden states; docs/kernel.md explains them.

`choice` picks one of three: `chunked` (plain torch), `dense` (the gradients are computed together
with the loss) and `sparse` (Triton; the gradients are computed from recorded survivors).

The words of the sparse implementation:

    row             a position of the input
    survivor        a token that takes part in the loss of a row
    chunk           some thousand columns of the vocabulary, which are recorded together
    record          the survivors of the forward pass, in lists of limited capacity
    full row        not recorded, because the capacity ran out; its logits are computed again
    heavy row       recorded, but with so many survivors that a matrix product is the fastest
    light row       any other row; its gradient is a sum over the vectors of its survivors
    dense rows      full and heavy rows together
    popular token   survives in so many light rows that its column is multiplied as well

The modules in the order of a training step: `recording` (with `quotas`), `row_groups`,
`token_counts`, `light_rows`, `popular_tokens`, `dense_rows` (with `logit_gradients`); `backward`
calls those of the backward pass.
"""
