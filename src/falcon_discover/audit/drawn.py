"""Groups and weights of the rows that come in: checked, and as numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from falcon_discover.data.drawing import given_groups, given_weights, joined_groups
from falcon_discover.data.table import Table
from falcon_discover.exceptions import InputError
from falcon_discover.runtime.types import FloatArray, IntArray
from falcon_discover.signals.state import State


@dataclass(frozen=True, eq=False)
class Drawn:
    """How rows were drawn.

    Attributes
    ----------
    group : the number of each row's group; None where each row is its own
    weight : how many rows each stands for; None where each stands for itself
    validation : the same of the validation rows
    """

    group: IntArray | None = None
    weight: FloatArray | None = None
    validation: Drawn | None = None

    def given_to(self, state: State, rows: IntArray | None = None) -> State:
        """Return the state of the rows, or of some of them, with their groups and weights."""
        group, weight = self.group, self.weight
        if rows is not None:
            group = None if group is None else group[rows]
            weight = None if weight is None else weight[rows]
        return replace(state, group=group, weight=weight)


def drawing(table: Table, groups: Any, sample_weight: Any) -> Drawn:
    """Return the groups and weights of rows, checked."""
    group, _ = given_groups(groups, len(table))
    return Drawn(group, given_weights(sample_weight, len(table)))


def fit_drawing(
    table: Table,
    groups: Any,
    sample_weight: Any,
    validation: Table | None,
    groups_cal: Any,
    sample_weight_cal: Any,
) -> Drawn:
    """Return the groups and weights of the rows of a fit, and of the validation rows."""
    group, known = given_groups(groups, len(table))
    weight = given_weights(sample_weight, len(table))
    if validation is None:
        for name, given in (("groups_cal", groups_cal), ("sample_weight_cal", sample_weight_cal)):
            if given is not None:
                raise InputError(f"{name} was given without X_cal: pass both or neither.")
        return Drawn(group, weight)
    for name, given, given_cal in (
        ("groups", groups, groups_cal),
        ("sample_weight", sample_weight, sample_weight_cal),
    ):
        if (given is None) != (given_cal is None):
            raise InputError(
                f"with X_cal, {name} and {name}_cal belong together: pass both or neither."
            )
    other, other_known = given_groups(groups_cal, len(validation), "groups_cal")
    checked = Drawn(
        joined_groups(group, known, other, other_known),
        given_weights(sample_weight_cal, len(validation), "sample_weight_cal"),
    )
    return Drawn(group, weight, checked)
