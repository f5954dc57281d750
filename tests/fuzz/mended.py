"""What the campaign found, and what was mended: one line each, in the words of the docs."""

from __future__ import annotations

# By part of the campaign, as `Part.what` calls it.
MENDED: dict[str, tuple[str, ...]] = {
    "tables of every type, container and name": (
        "Masked cells of an array were taken for values, in X and in all that comes with it. "
        "Refused.",
        "A column name with half a character in it ended in an encoding error. Refused by name.",
        "A cell without a text of its own ended in its own exception. Refused, with its column.",
        "True and 1 in one column of objects got the text of whichever came first, so row order "
        "mattered. Each has its own.",
        "An Arrow table whose notes for pandas name a type that cannot be made again ended in a "
        "TypeError. Read without the notes.",
        "Some errors repeated the whole table, or a cell of thousands of characters. They are cut.",
    ),
    "later tables, read as earlier ones": (
        "Numbers in a column that held dates at the fit were read as nanoseconds. Refused.",
        "Dates that were not written the ISO way were guessed at. Refused.",
        "Complex numbers in a later column lost their imaginary part. Refused.",
    ),
    "labels": (
        "Two labels that differ only by a NUL at the end were taken for each other. Told apart.",
        "Labels of no rows were accepted; whole numbers beyond 64 bits ended in an overflow. "
        "Refused.",
        "A label with half a character in it ended in an encoding error later on. Refused.",
    ),
    "weights": (
        "Weights, groups, costs and times in a pandas Series of another row order were taken by "
        "position. Refused, as labels were.",
        "Weights beyond 1e150 overflowed, and vanishing ones became NaN. Refused beyond 1e50 and "
        "below 1e-50.",
        "Complex weights lost their imaginary part; lists of lists and very long whole numbers "
        "ended in other errors. Refused.",
    ),
    "costs": ("Complex, masked and overflowing costs were accepted. Refused.",),
    "times": (
        "Times far beyond the year 2262 wrapped around and changed the order of rows. Refused.",
        "Times that came as objects ended in other errors. Read, or refused.",
    ),
    "figures of `metrics`": (
        "Texts, complex numbers, masked and two-dimensional arrays ended in numpy's errors. "
        "Refused by name.",
        "`k`, `tau`, `n_bins` of another type ended in a TypeError. Refused by name.",
    ),
    "marks compared with a review list": (
        "A file without marks, and thresholds by class with no row left, ended in tracebacks. "
        "Answered.",
        "A doubt that is missing in an edited list ended in a traceback. It counts as none.",
    ),
    "marks to learn from": (
        "Names of rows and batches were compared by their first 160 characters, so long ones that "
        "differ at their end were one: `monitor --by` put their rows into one batch. Compared in "
        "full.",
        "Row numbers in Arrow's own types ended in its errors. Read, or refused.",
    ),
    "audits of predictions, and a question": (
        "Ragged scores ended in numpy's error. Refused.",
        "With weights, a constant signal gave a RuntimeWarning of numpy. Silent: the result was "
        "right.",
        "Where all confident errors, all errors or all confident rows had weight 0, a division by "
        "zero or another library's error came. Such rows count and teach as if they were not "
        "there.",
    ),
    "models that misbehave": (
        "A model that adds columns to the table it is given changed the user's own table. It gets "
        "a table of its own.",
    ),
    "later rows: scored, monitored, compared, learned from": (
        "Columns in another order were refused with scikit-learn's ValueError. Now an InputError "
        "with the same words.",
    ),
}
