"""Saved audits that were damaged: each loads as it was, or is refused with a sentence."""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from falcon_discover import FalconDiscover, datasets, load
from fuzz.doors import right
from fuzz.outcome import Hang, outcome, place

Damage = Callable[[bytes, np.random.Generator], bytes]
NEW = datasets.make_planted(30, random_state=9)
COLUMNS = ["signal_a", "load", "colour"]


@dataclass(frozen=True)
class Saved:
    """An audit in a file, and what it says of some rows."""

    content: bytes
    scores: bytes

    @classmethod
    def of(cls, falcon: FalconDiscover, keep: str) -> Saved:
        with tempfile.TemporaryDirectory() as folder:
            content = falcon.save(Path(folder, "audit.falcon"), keep).read_bytes()  # type: ignore[arg-type]
        return cls(content, told(load(content)))


def told(falcon: FalconDiscover) -> bytes:
    """Return what an audit says of new rows, to the last bit."""
    X: Any = NEW.X[COLUMNS]
    proba = NEW.proba if falcon.audit_.model is None else None
    found = falcon.examine(X, proba=proba)
    return found.suspicion().tobytes() + found.state.p.tobytes()


@cache
def audits() -> dict[str, Saved]:
    rows = datasets.make_planted(90, random_state=0)
    X, options = rows.X[COLUMNS], {"cv": 2, "n_neighbors": 3, "n_regions": 1, "random_state": 0}
    model = FalconDiscover("logistic_regression", ranker="gated_confidence", **options)
    model.fit(X, rows.y)
    learned = FalconDiscover("precomputed", **options).fit(X, rows.y, proba=rows.proba)
    return {
        "model": Saved.of(model, "full"),
        "predictions": Saved.of(learned, "full"),
        "without rows": Saved.of(model, "none"),
    }


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: dict[str, bytes], *, checked: bool = False) -> bytes:
    """Return an archive of parts; `checked` gives them the checksums that belong to them."""
    if checked:
        head = json.loads(parts["manifest.json"])
        if isinstance(head, dict) and isinstance(head.get("parts"), dict):
            for name, data in parts.items():
                if not name.startswith("manifest."):
                    digest = hashlib.sha256(data).hexdigest()
                    head["parts"][name] = {"bytes": len(data), "sha256": digest}
        text = json.dumps(head).encode()
        digest = hashlib.sha256(text).hexdigest().encode()
        parts = {**parts, "manifest.json": text, "manifest.sha256": digest}
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return held.getvalue()


def _flip(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 9))):
        changed[int(rng.integers(0, len(content)))] ^= 1 << int(rng.integers(0, 8))
    return bytes(changed)


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    end = (
        rng.integers(0, len(content)) if rng.random() < 0.7 else len(content) - rng.integers(1, 64)
    )
    return content[: int(end)]


def _block(content: bytes, rng: np.random.Generator) -> bytes:
    start, size = int(rng.integers(0, len(content))), int(rng.choice((16, 512, 4096)))
    end = min(start + size, len(content))
    ways = (bytes(end - start), rng.bytes(end - start), b"", content[start:end] * 2)
    return content[:start] + ways[int(rng.integers(0, 4))] + content[end:]


def _ends(content: bytes, rng: np.random.Generator) -> bytes:
    more = rng.bytes(int(rng.integers(1, 200)))
    return more + content if rng.random() < 0.5 else content + more


def _two(parts: dict[str, bytes], rng: np.random.Generator) -> tuple[str, str]:
    one, other = rng.choice(sorted(parts), 2, replace=False)
    return str(one), str(other)


def _swapped(content: bytes, rng: np.random.Generator) -> bytes:
    parts = members(content)
    one, other = _two(parts, rng)
    parts[one], parts[other] = parts[other], parts[one]
    return packed(parts)


def _lost(content: bytes, rng: np.random.Generator) -> bytes:
    parts = members(content)
    for name in rng.choice(sorted(parts), int(rng.integers(1, 3)), replace=False):
        del parts[str(name)]
    return packed(parts)


def _renamed(content: bytes, rng: np.random.Generator) -> bytes:
    parts = members(content)
    name = _two(parts, rng)[0]
    strange = ("../../up", "/etc/more", "more.pkl", name.upper(), " ", "a" * 300)
    parts[strange[int(rng.integers(0, len(strange)))]] = parts[name]
    if rng.random() < 0.5:
        del parts[name]
    return packed(parts)


def _of_another(content: bytes, rng: np.random.Generator) -> bytes:
    parts = members(content)
    others = members(audits()[str(rng.choice(sorted(audits())))].content)
    name = str(rng.choice(sorted(others)))
    if parts.get(name) == others[name]:
        return _flip(content, rng)
    return packed({**parts, name: others[name]})


def _sizes(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a size, an offset or a count in the zip's own records."""
    marks = (b"PK\x01\x02", b"PK\x05\x06", b"PK\x03\x04")
    mark = marks[int(rng.integers(0, 3))]
    places = [i for i in range(len(content) - 21) if content[i : i + 4] == mark]
    place_ = int(rng.choice(places)) + int(rng.integers(4, 20))
    value = rng.bytes(2) if rng.random() < 0.5 else b"\xff\xff"
    return content[:place_] + value + content[place_ + 2 :]


def _edited(content: bytes, rng: np.random.Generator) -> bytes:
    """Edit the manifest, and leave its checksum as it is."""
    parts = members(content)
    text = parts["manifest.json"]
    head, changed = json.loads(text), json.loads(text)
    while changed == head:
        _edit(changed, rng)
    return packed({**parts, "manifest.json": json.dumps(changed).encode()})


VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**40, 0.5, 1e308, "", "text", [], [1], {}, {"a": 1}, "\ud800", "../x",
    [[]] * 3,
)  # fmt: skip


def _edit(head: Any, rng: np.random.Generator) -> None:
    """Change, delete or add one value, at any depth."""
    while True:
        keys = sorted(head) if isinstance(head, dict) else list(range(len(head)))
        if not keys:
            return
        key = keys[int(rng.integers(0, len(keys)))]
        if isinstance(head[key], dict | list) and head[key] and rng.random() < 0.7:
            head = head[key]
            continue
        way = rng.random()
        if way < 0.2:
            del head[key]
        elif way < 0.3 and isinstance(head, dict):
            head[f"{key} more"] = head[key]
        else:
            head[key] = VALUES[int(rng.integers(0, len(VALUES)))]
        return


def _forged(content: bytes, rng: np.random.Generator) -> bytes:
    """Edit the manifest, and give it its new checksum."""
    parts = members(content)
    head = json.loads(parts["manifest.json"])
    _edit(head, rng)
    text = json.dumps(head).encode()
    digest = hashlib.sha256(text).hexdigest().encode()
    return packed({**parts, "manifest.json": text, "manifest.sha256": digest})


def _forged_part(content: bytes, rng: np.random.Generator) -> bytes:
    """Damage a part, and give it its new checksum."""
    parts = members(content)
    name = str(rng.choice([name for name in sorted(parts) if not name.startswith("manifest.")]))
    ways = (_flip, _cut, _block, lambda data, rng: parts["manifest.json"], lambda data, rng: b"")
    parts[name] = ways[int(rng.integers(0, len(ways)))](parts[name] or b"\0" * 64, rng)
    return packed(parts, checked=True)


# Of forged files, with checksums that fit, nobody can tell what was in them: these must only be
# refused, or be an audit that answers.
FORGED = {"a manifest edited, with a new checksum": _forged,
          "a part damaged, with a new checksum": _forged_part}  # fmt: skip
DAMAGE: dict[str, Damage] = {
    "bits flipped": _flip,
    "cut off": _cut,
    "a block zeroed, overwritten, lost or doubled": _block,
    "bytes before or after": _ends,
    "sizes and offsets of the zip changed": _sizes,
    "two members swapped": _swapped,
    "members deleted": _lost,
    "a member renamed or added": _renamed,
    "a member of another audit": _of_another,
    "a manifest edited, its checksum unchanged": _edited,
    **FORGED,
}


def loaded(content: bytes, saved: Saved, *, forged: bool) -> str:
    """Return whether damaged bytes were refused, or gave the same audit."""

    def call() -> None:
        falcon = load(content)
        if not forged:
            right(told(falcon) == saved.scores, "an audit with other scores")
        else:
            told(falcon)

    return outcome(call)


def lines(files: int) -> Iterator[dict[str, Any]]:
    """Yield one line for each kind of damage."""
    known = sorted(audits())
    for kind, (name, damage) in enumerate(DAMAGE.items()):
        came: Counter[str] = Counter()
        for number in range(files):
            rng = np.random.default_rng([kind, number])
            saved = audits()[known[number % len(known)]]
            try:
                came[loaded(damage(saved.content, rng), saved, forged=name in FORGED)] += 1
            except (Exception, Hang) as error:
                came["faults"] += 1
                print(f"  damage {kind}, number {number}: {place(error)}", flush=True)
        yield {
            "damage": name,
            "files": files,
            "refused": came["refused"],
            "loaded": came["answered"],
            "faults": came["faults"],
        }
