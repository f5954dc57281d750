"""What the campaign found, and what was fixed: one line each, in the words of the docs."""

from __future__ import annotations

# By part of the campaign, as `Part.what` calls it.
MENDED: dict[str, tuple[str, ...]] = {
    "tables of every type, container and name": (
        "Masked cells of an array were read as values, in X and in everything given with it. "
        "Refused.",
        "A column name with half a character in it caused an encoding error. Refused; the message "
        "names the column.",
        "A cell that cannot be turned into text raised an exception of its own. Refused; the "
        "message names the column.",
        "True and 1 in one object column both got the text of whichever came first, so row order "
        "mattered. Each keeps its own.",
        "An Arrow table whose pandas metadata names a type that cannot be restored caused a "
        "TypeError. Read without the metadata.",
        "Some error messages repeated the whole table, or a cell of thousands of characters. They "
        "are shortened.",
    ),
    "later tables, read as earlier ones": (
        "Numbers in a column that had dates at the fit were read as nanoseconds. Refused.",
        "Dates that were not in ISO format were guessed at. Refused.",
        "Complex numbers in a later column lost their imaginary part. Refused.",
    ),
    "labels": (
        "Two labels that differ only in a NUL at the end counted as the same label. They are kept "
        "apart.",
        "An empty list of labels was accepted, and whole numbers beyond 64 bits overflowed. Both "
        "are refused.",
        "A label with half a character in it caused an encoding error later on. Refused.",
    ),
    "weights": (
        "Weights, groups, costs and times in a pandas Series with another row order were matched "
        "by position. Refused, as labels were.",
        "Weights above 1e150 overflowed, and vanishingly small ones became NaN. Weights above "
        "1e50 or below 1e-50 are refused.",
        "Complex weights lost their imaginary part; lists of lists and very long whole numbers "
        "raised other exceptions. Refused.",
    ),
    "costs": ("Complex, masked and overflowing costs were accepted. Refused.",),
    "times": (
        "Times far beyond the year 2262 wrapped around and changed the order of rows. Refused.",
        "Times given as objects raised other exceptions. They are read, or refused.",
    ),
    "figures of `metrics`": (
        "Strings, complex numbers, and masked or two-dimensional arrays raised numpy's errors. "
        "Refused; the message names the argument.",
        "`k`, `tau` or `n_bins` of the wrong type raised a TypeError. Refused; the message names "
        "the argument.",
    ),
    "marks compared with a review list": (
        "A file without marks, or thresholds by class with no row left, ended in a traceback. "
        "Both are answered.",
        "A label doubt missing from an edited list ended in a traceback. It counts as 0.",
    ),
    "marks to learn from": (
        "Only the first 160 characters of row and batch names were compared, so long names that "
        "differ at the end counted as one: `monitor --by` put their rows into one batch. They are "
        "compared in full.",
        "Row numbers in Arrow's own types raised Arrow's errors. They are read, or refused.",
    ),
    "audits of predictions, and a question": (
        "Ragged scores raised an error of numpy's. Refused.",
        "With weights, a constant signal caused a RuntimeWarning from numpy. The warning is gone; "
        "the result was right.",
        "Where all confident errors, all errors or all confident rows had weight 0, there was a "
        "division by zero or an error from another library. Rows of weight 0 count and teach as "
        "if they were not there.",
    ),
    "models that misbehave": (
        "A model that adds columns to the table it is given changed the user's own table. It gets "
        "a table of its own.",
    ),
    "later rows: scored, monitored, compared, learned from": (
        "Columns in another order were refused with scikit-learn's ValueError. It is now an "
        "InputError with the same words.",
    ),
}
