"""The nouns of Steelyard as frozen values; no input or output, no formats."""
