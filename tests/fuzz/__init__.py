"""The campaign of generated inputs, damaged files and answers that must agree: `make fuzz`."""
