"""The base model: an adapter around any, a library of candidates, fitting and cross-fitting."""
