"""The section on language models of docs/results.md, from the rows that `benchmarks.lm` left.

python -m benchmarks.lm.section    draws its pictures and shows it
"""

from benchmarks.lm import character_tables, plots, two_language_tables, word_tables
from benchmarks.lm.rows import RESULTS, results

TEXT = """\
## Language models that learn their rare tokens

`make bench-lm`; {machines}. Texts are cut in three by position (train, validation, test);
validation chooses the checkpoint and the temperature, the test part is reported, always under the
full, normalised softmax. Mean±standard deviation over three seeds unless a row says otherwise.
Losses are in nats. A group's loss is the mean over its tokens, each counted once; rank 1 is the
most frequent.

### Tiny Shakespeare

Characters, 6 layers × 384, context 256, batches of 64, 2000 steps, tied weights. Dropout and label
smoothing were chosen on the validation loss of seed 0; the chosen pair has all seeds, alone and
with a margin.

{shakespeare}

![Validation loss of ranks 1 to 10 and 41 to 50 while training](pictures/lm-shakespeare.svg)

![The share of each role in the gradient of each character, by rank](pictures/lm-roles.svg)

On a CPU, in minutes: 4 layers × 128, context 128, batches of 16, 1500 steps{cpu_time}.

{shakespeare_cpu}

### Two languages, 98 % and 2 %

Shakespeare in two alphabets of 65 characters. Each window of training is in the second alphabet
with a chance of 2 %, so both languages have the same text and the small one is read fifty times
less. Size, steps and batches are the published ones: 4 layers × 128, learned positions, context 64,
batches of 12, 8000 steps; that is 6.1 million characters, 123,000 of them in the small language.
Validation and test are the same text in either language, each with its own best temperature.
Published rows are those of *Stop Jostling* (LoResLM 2025), one seed each, on both parts together.
"Separated embeddings" there means that each token's row is a parameter of its own. AdamW treats
each number by itself, so such rows move exactly as those of one matrix do (a test shows it). They
could differ by escaping weight decay, as parameters of one dimension often do, but in that work
they decay too: its training logs count 147 decayed tensors, 130 of them rows. What is left is
another stream of random numbers. "No decay" is freedom from decay and
nothing else. Rows with one seed are candidates; the one that did best on the small language's
validation text while the big one kept within its limit has three.

{two_languages}

![Perplexity of the small language against that of the big one](pictures/lm-two-languages.svg)

### Five languages

English (web, encyclopaedia, speeches, a novel) with 160 kB of news in each of Swahili, Yorùbá,
Hausa and Amharic; 8192 byte-level pairs; 6 layers × 384, context 256, batches of 32, tied weights;
the best step on validation, test loss of each language. Rows without dropout have 1500 steps and
are best before the last; those with dropout 0.2 have 2500 and are best at the last.

{five_languages}

### Output layers

English by words, the 20,000 most frequent ones; 4 layers × 256, context 64, untied unless it says
so, batches of 128, 800 steps. Perplexity under each layer's normalised distribution. Tokens a
second are of whole training steps, measured alone on the machine.

{output_layers}

![Perplexity against training speed of each output layer](pictures/lm-output-layers.svg)

From hidden states to gradients, the full softmax against √V classes:

{class_speed_up}

![Speed-up of classes against the vocabulary](pictures/lm-classes.svg)

### Token distribution

English by byte-level pairs of five vocabulary sizes; 4 layers × 256, context 256, 1500 steps.

{vocabularies}

![Bits per byte against Rényi efficiency](pictures/lm-vocabularies.svg)

### Training speed

At Shakespeare's size (on a CPU, at the smaller one), variants taking turns in one run. *Bare*: the
same model and optimiser with clipped gradients, batches already on the device, plain
cross-entropy, no logging, no evaluation. *Diagnostics* are what they cost over plain `train`.
*Margin* is what it costs over plain cross-entropy in whole training steps, in many short turns.

{training_speed}
"""


def section() -> str:
    """Markdown; what has no row yet is said to be not measured."""
    return TEXT.format(
        machines=_machines(),
        shakespeare=character_tables.shakespeare(),
        cpu_time=_cpu_time(),
        shakespeare_cpu=character_tables.shakespeare("shakespeare-cpu"),
        two_languages=two_language_tables.two_languages(),
        five_languages=word_tables.five_languages(),
        output_layers=word_tables.output_layers(),
        class_speed_up=word_tables.class_speed_up(),
        vocabularies=word_tables.vocabularies(),
        training_speed=word_tables.training_speed(),
    )


def _machines() -> str:
    found = [row for seeds in results("shakespeare").values() for row in seeds.values()]
    names = sorted(
        {f"{row['machine']['device']}, torch {row['machine']['torch']}" for row in found}
    )
    return "measured on " + "; ".join(names) if names else "not measured yet"


def _cpu_time() -> str:
    seconds = [
        row["training_seconds"]
        for seeds in results("shakespeare-cpu").values()
        for row in seeds.values()
    ]
    return f"; the longest run took {max(seconds) / 60:.1f} minutes" if seconds else ""


def main() -> None:
    plots.draw(RESULTS.parents[2] / "docs" / "pictures")
    print(section())


if __name__ == "__main__":
    main()
