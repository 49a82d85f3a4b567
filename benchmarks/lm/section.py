"""The section of docs/results.md on language models, from the results of `benchmarks.lm`.

python -m benchmarks.lm.section    draws the plots and prints the section
"""

from benchmarks.data import PICTURES
from benchmarks.lm import character_tables, plots, two_language_tables, word_tables
from benchmarks.lm.rows import results

TEXT = """\
## Language models and rare tokens

`make bench-lm`; {machines}. Texts are split by position into train, validation and test parts. The
checkpoint and the temperature are chosen on the validation part; results are on the test part,
always under the full, normalised softmax. Figures are means over three seeds, with the lowest and
the highest seed in brackets, unless a row says otherwise. Losses are in nats. The loss of a group
of tokens is the unweighted mean over its tokens; rank 1 is the most frequent token.

### Tiny Shakespeare

Characters, 6 layers × 384, context 256, batch size 64, 2000 steps, tied weights. Dropout and label
smoothing were chosen by the validation loss of seed 0; the best pair was run with all seeds,
without and with a margin.

{shakespeare}

![Validation loss of ranks 1 to 10 and 41 to 50 during training](pictures/lm-shakespeare.svg)

![The fraction of each role in the gradient of each character, by rank](pictures/lm-roles.svg)

On a CPU: 4 layers × 128, context 128, batch size 16, 1500 steps.
{cpu_origins}

{shakespeare_cpu}

### Two languages, 98 % and 2 %

Shakespeare in two alphabets of 65 characters. Each training window is in the second alphabet with a
probability of 2 %, so both languages have the same text, and the small one is seen fifty times less
often. Size, steps and batch size are as published: 4 layers × 128, learned positions, context 64,
batch size 12, 8000 steps; that is 6.1 million characters, 123,000 of them in the small language.
Validation and test texts are the same in both languages, each with its own best temperature.
Published rows are from *Stop Jostling* (LoResLM 2025), one seed each, on both parts together.
"Separated embeddings" there means that the embedding of each token is a parameter of its own. AdamW
updates each number independently, so this changes nothing by itself (a test shows it). The
embeddings could differ by escaping weight decay, which is often not applied to one-dimensional
parameters; but in that work they decay as well: its training logs count 147 decayed tensors, 130 of
them embeddings of tokens. What remains is a different stream of random numbers. "No decay" here
means no weight decay on token embeddings and nothing else. Rows with one seed are candidates; the
one with the best validation result on the small language within the limit of the big one has three
seeds.

{two_languages}

{two_origins}

Twenty seeds of each row, trained at once on a GPU (`python -m benchmarks.lm.two_language_seeds`),
after the last step. A letter is aligned if its nearest letter of the big language, by the cosine of
centred embeddings, is its counterpart.

{twenty_seeds}

![Perplexity of the small language against that of the big one](pictures/lm-two-languages.svg)

### Five languages

English (web, encyclopedia, speeches, a novel) with 160 kB of news in each of Swahili, Yorùbá,
Hausa and Amharic; 8192 byte pairs; 6 layers × 384, context 256, batch size 32, tied weights;
the best step on validation, test loss of each language. Rows without dropout have 1500 steps and
are best before the last; rows with dropout 0.2 have 2500 steps and are best at the last. Files of
rows with one seed have a field `source`: an exploration script measured them, with the code and
settings of these rows. `make bench-lm` measures them again if these files are deleted.

{five_languages}

### Margin and budget chosen automatically

`--margin auto`: test loss at the best step on validation, of all tokens and of rare ones (ranks
41–50 of the characters of Shakespeare; byte pairs that occur fewer than 30 times in the training
text). Shakespeare as above, byte pairs as under *token distribution*. Rows with one seed are from
the same exploration as those of the five languages; one seed does not show the noise between seeds.
Here and in the table of five languages, the budget was spent from the first step on; now it is
spent in the second half of training, which costs less (log).

{automatic_margin}

### Output layers

English as words, the 20,000 most frequent ones; 4 layers × 256, context 64, untied unless stated
otherwise, batch size 128, 800 steps. Perplexity is measured under the normalised distribution of
each layer. Tokens per second are for whole training steps on an otherwise idle machine.

{output_layers}

![Perplexity against training speed of each output layer](pictures/lm-output-layers.svg)

Time from hidden states to gradients, the full softmax compared with √V classes:

{class_speed_up}

![Speed-up of classes by vocabulary size](pictures/lm-classes.svg)

### Token distribution

English as byte pairs with five vocabulary sizes; 4 layers × 256, context 256, 1500 steps.

{vocabularies}

![Bits per byte against Rényi efficiency](pictures/lm-vocabularies.svg)

### Training speed

At the size of the Shakespeare experiment (on a CPU, the smaller one), with variants alternating in
one run. *Minimal loop*: the same model and optimizer with gradient clipping, batches already on the
device, standard cross-entropy, no logging, no evaluation. *Cost of the diagnostics*: relative to
`train` without them. *Cost of the margin*: relative to standard cross-entropy in whole training
steps, in many short turns.

{training_speed}
"""


def section() -> str:
    """Return the section as Markdown, including what was not measured."""
    return TEXT.format(
        machines=_machines(),
        shakespeare=character_tables.shakespeare(),
        cpu_origins=_origins("shakespeare-cpu"),
        two_origins=_origins("two-languages"),
        shakespeare_cpu=character_tables.shakespeare("shakespeare-cpu"),
        two_languages=two_language_tables.two_languages(),
        twenty_seeds=two_language_tables.twenty_seeds(),
        five_languages=word_tables.five_languages(),
        automatic_margin=word_tables.automatic_margin(),
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


def _origins(experiment: str) -> str:
    """Return a list of the machines and code versions of an experiment, with their runs."""
    runs: dict[str, dict[str, list[int]]] = {}
    for row, seeds in results(experiment).items():
        for seed, result in seeds.items():
            machine = result["machine"]
            about = (
                f"{machine['device']}, torch {machine['torch']}, threads: {machine['threads']}, "
                f"code {machine['version']}"
            )
            runs.setdefault(about, {}).setdefault(row, []).append(seed)
    if len(runs) <= 1:
        return "".join(f"All runs: {about}." for about in runs)
    lines = ["Rows mix runs of several machines or code versions (seeds in brackets):", ""]
    for about, rows in sorted(runs.items()):
        names = (f"{row} ({', '.join(map(str, seeds))})" for row, seeds in rows.items())
        lines.append(f"- {about}: {'; '.join(names)}")
    return "\n".join(lines)


def main() -> None:
    plots.draw(PICTURES)
    print(section())


if __name__ == "__main__":
    main()
