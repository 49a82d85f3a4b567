"""Train language models that also learn rare tokens, on raw text.

thresher lm train corpus.txt -o my-lm --margin 4   train a model
thresher lm eval my-lm                             evaluate it
thresher lm report my-lm other-lm -o report/       compare models
thresher lm sample my-lm                           generate text
thresher lm export my-lm -o my-lm-hf               write it for transformers
"""
