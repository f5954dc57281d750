"""Terms of the glossary, explained where they stand."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from falcon_discover.runtime.glossary import GLOSSARY

# Words that everybody reads without help, or that are explained by standing in a heading.
PLAIN = ("label", "mark", "missed", "queue", "signal", "threshold")
_NAMES = {name.lower(): name for name in GLOSSARY if name not in PLAIN}
# Not the 95% confidence of a statement, which is another thing than a model's.
_TERMS = re.compile(
    rf"(?<!% )\b({'|'.join(sorted(map(re.escape, _NAMES), key=len, reverse=True))})(s?)\b",
    re.IGNORECASE,
)


class Terms:
    """Explains each term once, until told to start anew."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def anew(self) -> str:
        """Start anew, as at the head of a section; show nothing."""
        self._told.clear()
        return ""

    def __call__(self, words: str) -> Markup:
        """Return a text as markup in which terms carry their meaning.

        Examples
        --------
        >>> print(Terms()("a <b> review list"))
        a &lt;b&gt; <abbr title="The rows to check, riskiest first, each with a reason.">review list</abbr>
        """  # noqa: E501  # a text as it is printed
        return Markup(_TERMS.sub(self._explained, str(escape(words))))

    def _explained(self, found: re.Match[str]) -> str:
        name = _NAMES[found.group(1).lower()]
        if name in self._told:
            return found.group(0)
        self._told.add(name)
        return f'<abbr title="{escape(GLOSSARY[name])}">{found.group(0)}</abbr>'
