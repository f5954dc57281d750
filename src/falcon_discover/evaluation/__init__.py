"""How good a finding is: figures, budgets, risks, curves."""
