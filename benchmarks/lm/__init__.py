"""Language models and rare tokens: one JSON file for each row and seed.

python -m benchmarks.lm shakespeare two-languages --jobs 6
"""
