"""Prior knowledge about words: casing, rarity, word lists, evidence without capitals."""
