"""Find entities: priors over words, training of gates, finding spans, evaluation."""
