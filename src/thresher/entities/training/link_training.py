"""Train the link gate on raw text, with targets from case and repetition.

The targets say which neighbouring words are one name or one term:

1  two capitals where the writer was free to choose the case; a capital, "of", "for" or "of the",
   and a capital; a rare, repeated lower-case word that nearly always has the same neighbour nearby
0  a capital beside a lower-case word; two ordinary lower-case words; a word that is known not
   to start a name ("President") and the next one; a repeated word with changing neighbours
NaN  everything else
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from thresher.entities.finding.link_gate import LinkGate
from thresher.entities.finding.signals import Flags
from thresher.entities.priors.casing import Casing, casing_of_words, is_word
from thresher.entities.priors.word_lists import ARTICLES, JOINERS, TITLES
from thresher.entities.priors.word_statistics import PASSAGE, is_repeated_nearby
from thresher.entities.training.raw_text import RawText
from thresher.gates.optimization import seeded
from thresher.text.indexed_sentences import IndexedSentences

_SURE_RATE = 0.9  # of capitals, where the case of an occurrence is uninformative
_SAME_NEIGHBOUR = 0.75  # of the occurrences of a term in a passage
_NEAR = PASSAGE // 2  # sentences
JOINING = JOINERS | ARTICLES | frozenset("and for in at on to".split())
_LINKING = (JOINERS | {"for"}) - {"-", "'s", "’s"}

Targets = NDArray[np.float32]
MIN_LINKS = 300  # pairs of words that are one name; with fewer, no link gate is trained
_EPOCHS = 3
_PAIRS_PER_BATCH = 1024
_SAMPLED_PLAIN = 0.15  # of the pairs of ordinary lower-case words
_LEARNING_RATE, _WEIGHT_DECAY = 1e-3, 1e-2


@dataclass(frozen=True)
class LinkTargets:
    """The target for each word and the next one: (words,), NaN where there is none.

    plain: (words,), whether both are ordinary lower-case words, as most pairs of a text are
    """

    values: Targets
    plain: Flags


def link_targets(raw: RawText) -> LinkTargets:
    """Return the targets of the words of raw text."""
    sentences = IndexedSentences.from_sentences(raw.sentences)
    folded = sentences.replace_words(str.casefold)
    word = sentences.map_words(is_word, np.bool_)
    capital = _capitals(raw, sentences, folded, word)
    joining = folded.map_words(JOINING.__contains__, np.bool_)
    targets = _targets_by_case(capital, joining, folded)
    not_name = folded.map_words(raw.not_names.__contains__, np.bool_)
    never_inside = folded.map_words((raw.not_names - TITLES).__contains__, np.bool_)
    targets[(not_name | _shift(never_inside, 1)) & (targets == 1)] = 0
    if raw.ordinary is not None:
        _set_targets_of_terms(targets, raw, folded, word & (capital != 1))
    unknown = folded.map_words(lambda each: each in "-/" or each.isdecimal(), np.bool_)
    targets[unknown | _shift(unknown, 1)] = np.nan
    targets[sentences.starts[1:] - 1] = np.nan
    plain = (targets == 0) & (capital == 0) & _shift(capital == 0, 1)
    return LinkTargets(targets, plain)


def _capitals(
    raw: RawText, sentences: IndexedSentences, folded: IndexedSentences, word: Flags
) -> Targets:
    """Return 1 for a capital, 0 for lower case, NaN where the case says nothing: (words,)."""
    casing = casing_of_words(sentences, strict_headlines=True)
    rates = [raw.statistics.capital_rate(each) for each in folded.vocabulary]
    rate = np.array([np.nan if each is None else each for each in rates])[folded.word_ids]
    values = np.full(len(casing), np.nan, dtype=np.float32)
    values[casing == Casing.CAPITAL] = 1
    values[(casing == Casing.LOWER) & ~(rate > 0.5)] = 0
    unknown = casing == Casing.UNINFORMATIVE
    values[unknown & (rate > _SURE_RATE)] = 1
    values[(unknown & (rate < 1 - _SURE_RATE)) | ~word] = 0
    return values


def _targets_by_case(capital: Targets, joining: Flags, folded: IndexedSentences) -> Targets:
    is_capital, is_lower = capital == 1, (capital == 0) & ~joining
    next_capital, next_lower = _shift(is_capital, 1), _shift(is_lower, 1)
    targets = np.full(len(capital), np.nan, dtype=np.float32)
    targets[is_capital & next_capital] = 1
    targets[(is_capital & next_lower) | (is_lower & next_capital) | (is_lower & next_lower)] = 0
    targets[is_lower & _shift(joining, 1)] = 0
    linking = folded.map_words(_LINKING.__contains__, np.bool_)
    for middle, after, value in ((joining, is_lower, 0), (linking, is_capital, 1)):
        start = np.flatnonzero(is_capital & _shift(middle, 1) & _shift(after, 2))
        targets[start], targets[start + 1] = value, value
    article = folded.map_words("the".__eq__, np.bool_)
    start = np.flatnonzero(
        is_capital & _shift(linking, 1) & _shift(article, 2) & _shift(is_capital, 3)
    )
    for step in range(3):
        targets[start + step] = 1
    return targets


def _set_targets_of_terms(
    targets: Targets, raw: RawText, folded: IndexedSentences, possible: Flags
) -> None:
    """Set the targets beside rare words that are repeated nearby, by what is beside them there."""
    statistics = raw.statistics
    widespread = statistics.total_passages / 10
    is_common = [statistics.passages[each] > widespread for each in folded.vocabulary]
    content = folded.map_words(is_word, np.bool_) & ~np.array(is_common)[folded.word_ids]
    assert raw.ordinary is not None
    repeated = is_repeated_nearby(folded, raw.ordinary) & possible
    passage = folded.sentence_of_word() // _NEAR
    for step in (1, -1):
        index = np.flatnonzero(repeated & _shift(np.ones_like(repeated), step))
        words, neighbours = folded.word_ids[index], folded.word_ids[index + step]
        keys = list(zip(words.tolist(), passage[index].tolist(), strict=True))
        seen: defaultdict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        for key, neighbour in zip(keys, neighbours.tolist(), strict=True):
            seen[key][neighbour] += 1
        for i, key, neighbour in zip(index.tolist(), keys, neighbours.tolist(), strict=True):
            pair = min(i, i + step)
            target = _target_of_term(seen[key], neighbour, is_content=bool(content[i + step]))
            if step == 1 or targets[pair] != 1:
                targets[pair] = target


def _target_of_term(neighbours: Counter[int], neighbour: int, *, is_content: bool) -> float:
    total, same = neighbours.total(), neighbours[neighbour]
    if not is_content:
        return 0.0
    if total > 1 and same >= _SAME_NEIGHBOUR * total:
        return 1.0
    return 0.0 if total > 1 and same == 1 else np.nan


def _shift(flags: Flags, step: int) -> Flags:
    """Return the flag of the word `step` further on, False beyond the ends: (words,)."""
    shifted = np.zeros_like(flags)
    if step > 0:
        shifted[:-step] = flags[step:]
    else:
        shifted[-step:] = flags[:step]
    return shifted


def fit_link_gate(
    vectors: NDArray[np.float16], link_targets: LinkTargets, *, seed: int, device: torch.device
) -> LinkGate | None:
    """Return a gate trained with binary cross-entropy; None if the text has too few links.

    vectors: (words, width)
    """
    targets = link_targets.values
    known = np.flatnonzero(~np.isnan(targets))
    if np.count_nonzero(targets[known] == 1) < MIN_LINKS:
        return None
    generator = np.random.default_rng(seed)
    plain = link_targets.plain[known]
    kept = ~plain | (generator.random(len(known)) < _SAMPLED_PLAIN)
    pairs = known[kept]
    weights = np.where(plain[kept], 1 / _SAMPLED_PLAIN, 1.0).astype(np.float32)
    with seeded(seed):
        gate = LinkGate(vectors.shape[1]).to(device)
    optimizer = torch.optim.AdamW(gate.parameters(), lr=_LEARNING_RATE, weight_decay=_WEIGHT_DECAY)
    steps = _EPOCHS * -(-len(pairs) // _PAIRS_PER_BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _LEARNING_RATE, total_steps=steps)
    for _ in range(_EPOCHS):
        order = generator.permutation(len(pairs))
        for low in range(0, len(order), _PAIRS_PER_BATCH):
            chosen = np.sort(order[low : low + _PAIRS_PER_BATCH])
            batch = pairs[chosen]
            left, right, target, weight = (
                torch.from_numpy(np.asarray(each, dtype=np.float32)).to(device)
                for each in (vectors[batch], vectors[batch + 1], targets[batch], weights[chosen])
            )
            loss = functional.binary_cross_entropy_with_logits(
                gate(left, right), target, weight=weight
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
    return gate.half().float().eval()
