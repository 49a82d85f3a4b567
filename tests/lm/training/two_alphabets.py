"""A random text in two alphabets, of which the second is rarely seen."""

import torch

from thresher.lm.training.batches import WeightedPart

LETTERS = 12
VOCABULARY = 2 * LETTERS


def random_text(length, *, seed):
    """Return a text whose letters have different frequencies and followers: (length,)."""
    generator = torch.Generator().manual_seed(seed)
    likely = torch.rand(LETTERS, LETTERS, generator=generator) ** 4
    likely = likely * torch.linspace(1, 0.1, LETTERS)
    letters = [0]
    for _ in range(length - 1):
        letters.append(int(torch.multinomial(likely[letters[-1]], 1, generator=generator)))
    return torch.tensor(letters)


def in_two_alphabets(text, *, seed):
    """Return the text in both alphabets, and the letter that each letter of the second stands for.

    returns: (2 · length,), (LETTERS,)
    """
    order = torch.randperm(LETTERS, generator=torch.Generator().manual_seed(seed))
    stands_for = order.argsort()
    return torch.cat([text, LETTERS + order[text]]), stands_for


def parts(length, rare):
    """Return how both alphabets are sampled: `rare` is the fraction of the second."""
    return (WeightedPart(length, 1 - rare), WeightedPart(length, rare))
