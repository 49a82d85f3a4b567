"""Classify texts, and select the words that a classifier needs (rationales).

thresher rationale fit reviews.jsonl -o model         train on labelled texts
thresher rationale find reviews.jsonl --model model   labels and rationales
thresher rationale eval test.jsonl --model model      evaluate rationales
"""
