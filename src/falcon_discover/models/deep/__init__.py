"""Deep models for tables: RealMLP, FT-Transformer, SAINT; they need the extra `deep`."""
