"""SAINT, written from its description (Somepalli et al., 2021). Needs torch to be imported.

Every column becomes a vector; attention goes between the columns of a row and, in the full form,
between rows: all vectors of a row as one. While training, rows attend to those of their
batch. When asked, a row attends to a fixed set of training rows and to itself, so that
what it is given does not depend on who else is asked about.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

CLASS_HIDDEN = 1000
EMBEDDING_HIDDEN = 100
COLUMN_HEAD = 16
ROW_HEAD = 64


class NumberEmbeddings(nn.Module):
    """A small network of its own for every number: 1 to 100 to the width."""

    def __init__(self, n_numbers: int, width: int) -> None:
        super().__init__()
        self.inner = nn.Parameter(torch.empty(n_numbers, EMBEDDING_HIDDEN).uniform_(-1, 1))
        self.inner_bias = nn.Parameter(torch.empty(n_numbers, EMBEDDING_HIDDEN).uniform_(-1, 1))
        bound = EMBEDDING_HIDDEN**-0.5
        self.outer = nn.Parameter(
            torch.empty(n_numbers, EMBEDDING_HIDDEN, width).uniform_(-bound, bound)
        )
        self.outer_bias = nn.Parameter(torch.empty(n_numbers, width).uniform_(-bound, bound))

    def forward(self, numbers: Any) -> Any:
        """Take rows x numbers to rows x numbers x width."""
        hidden = torch.relu(numbers.unsqueeze(-1) * self.inner + self.inner_bias)
        return torch.einsum("rch,chw->rcw", hidden, self.outer) + self.outer_bias


class Attention(nn.Module):
    """Multi-head attention of `asking` vectors to `asked` ones."""

    def __init__(self, width: int, heads: int, head_width: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        inner = heads * head_width
        self.query = nn.Linear(width, inner, bias=False)
        self.key_value = nn.Linear(width, 2 * inner, bias=False)
        self.out = nn.Linear(inner, width)

    def forward(self, asking: Any, asked: Any) -> Any:
        """Return one vector for each that asks."""
        query = self._split(self.query(asking))
        key, value = map(self._split, self.key_value(asked).chunk(2, dim=-1))
        return self._joined(query, key, value)

    def with_itself(self, asking: Any, context: Any) -> Any:
        """Return one vector for each that asks the context and itself, but no other that asks."""
        query = self._split(self.query(asking))
        own_key, own_value = map(self._split, self.key_value(asking).chunk(2, dim=-1))
        key, value = map(self._split, self.key_value(context).chunk(2, dim=-1))
        itself = (query * own_key).sum(dim=-1, keepdim=True)
        scores = torch.cat([itself, query @ key.transpose(-2, -1)], dim=-1)
        shares = (scores * query.shape[-1] ** -0.5).softmax(dim=-1)
        found = shares[..., :1] * own_value + shares[..., 1:] @ value
        return self.out(found.transpose(-3, -2).flatten(-2))

    def _split(self, vectors: Any) -> Any:
        return vectors.unflatten(-1, (self.heads, -1)).transpose(-3, -2)

    def _joined(self, query: Any, key: Any, value: Any) -> Any:
        dropout = self.dropout if self.training else 0.0
        found = nn.functional.scaled_dot_product_attention(query, key, value, dropout_p=dropout)
        return self.out(found.transpose(-3, -2).flatten(-2))


class FeedForward(nn.Module):
    """Two layers with a gated unit between them."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.inner = nn.Linear(width, 8 * width)
        self.outer = nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, vectors: Any) -> Any:
        """Return a vector for each vector."""
        values, gates = self.inner(vectors).chunk(2, dim=-1)
        return self.outer(self.dropout(values * nn.functional.gelu(gates)))


class Stage(nn.Module):
    """Attention and a feed-forward layer, each behind a norm and added to what came in."""

    def __init__(self, width: int, heads: int, head_width: int, dropout: float) -> None:
        super().__init__()
        self.before_attention, self.before_forward = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, head_width, dropout)
        self.feed_forward = FeedForward(width, dropout)

    def forward(self, vectors: Any) -> Any:
        """Let the vectors of a set attend to each other."""
        normed = self.before_attention(vectors)
        return self._forward(vectors + self.attention(normed, normed))

    def against(self, vectors: Any, context: Any) -> Any:
        """Let each vector attend to the context and to itself."""
        normed = self.before_attention(vectors)
        found = self.attention.with_itself(normed, self.before_attention(context))
        return self._forward(vectors + found)

    def _forward(self, vectors: Any) -> Any:
        return vectors + self.feed_forward(self.before_forward(vectors))


class Saint(nn.Module):
    """SAINT for classification.

    Parameters
    ----------
    n_numbers, sizes : numbers, and how many codes each category has
    width, depth, heads, dropout : of a column's vector and of the stages
    rows : whether rows attend to rows after each attention between columns
    """

    def __init__(
        self,
        n_numbers: int,
        sizes: list[int],
        n_classes: int,
        *,
        width: int,
        depth: int,
        heads: int,
        dropout: float,
        rows: bool,
    ) -> None:
        super().__init__()
        self.numbers: Any = NumberEmbeddings(n_numbers, width) if n_numbers else None
        # One table for all categories: each has its codes after those of the one before.
        self.categories: Any = nn.Embedding(sum(sizes), width) if sizes else None
        self.register_buffer("first_codes", torch.tensor([0, *sizes[:-1]]).cumsum(0))
        self.summary = nn.Parameter(torch.randn(width) * 0.02)
        self.columns = nn.ModuleList(
            [Stage(width, heads, COLUMN_HEAD, dropout) for _ in range(depth)]
        )
        together = (1 + n_numbers + len(sizes)) * width
        self.rows = nn.ModuleList(
            [Stage(together, heads, ROW_HEAD, dropout) for _ in range(depth if rows else 0)]
        )
        self.head = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, CLASS_HIDDEN),
            nn.ReLU(),
            nn.Linear(CLASS_HIDDEN, n_classes),
        )
        self.register_buffer("context_numbers", None)
        self.register_buffer("context_codes", None)

    def remember(self, numbers: Any, codes: Any) -> None:
        """Take the rows that every row is compared with when it is asked about."""
        self.context_numbers, self.context_codes = numbers, codes

    def forward(self, numbers: Any, codes: Any) -> Any:
        """Return the logits of rows."""
        vectors = self._embedded(numbers, codes)
        context = None
        if len(self.rows) and not self.training:
            context = self._embedded(self.context_numbers, self.context_codes)
        for stage, columns in enumerate(self.columns):
            vectors = columns(vectors)
            if context is not None:
                context = columns(context)
            if len(self.rows):
                vectors, context = self._between_rows(self.rows[stage], vectors, context)
        return self.head(vectors[:, 0])

    def _embedded(self, numbers: Any, codes: Any) -> Any:
        n_rows = len(codes if numbers is None else numbers)
        parts = [self.summary.expand(n_rows, 1, -1)]
        if numbers is not None:
            parts.append(self.numbers(numbers))
        if codes is not None:
            parts.append(self.categories(codes + self.first_codes))
        return torch.cat(parts, dim=1)

    @staticmethod
    def _between_rows(stage: Any, vectors: Any, context: Any) -> tuple[Any, Any]:
        flat, shape = vectors.flatten(1), vectors.shape[1:]
        if context is None:
            return stage(flat.unsqueeze(0)).squeeze(0).unflatten(1, shape), None
        others = context.flatten(1)
        moved = stage(others.unsqueeze(0)).squeeze(0)
        return stage.against(flat, others).unflatten(1, shape), moved.unflatten(1, shape)
