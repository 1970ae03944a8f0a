"""The tables of loops that were closed with real models, from what is stored of them; empty where nothing is."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports.shared.record import Record, undrawn
from reports.shared.rows import Row

if TYPE_CHECKING:
    import pandas as pd

_HEAD = ("pair", "problem", "method", "prompts")
_COLUMNS: dict[str, tuple[str, ...]] = {
    "plays": (
        *(*_HEAD, "rounds", "device_rounds", "texts", "tokens_per_round", "tokens_low", "tokens_high"),
        *("predicted_tokens_curve", "predicted_tokens_geometric", "tokens_more", "tokens_more_low", "tokens_more_high"),
        *("goodput", "goodput_low", "goodput_high", "predicted_goodput_curve", "predicted_goodput_geometric"),
        *("goodput_more", "goodput_more_low", "goodput_more_high", "same_control"),
    ),
    "order": (
        *("pair", "problem", "prompts", "method", "against", "predicted_gain", "predicted_low", "predicted_high"),
        *("realised_gain", "low", "high", "difference", "difference_low", "difference_high"),
    ),
    "phases": (*_HEAD, "phase", "predicted_s", "realised_s", "low_s", "high_s"),
    "assumptions": (*_HEAD, "assumption", "of", "change", "low", "high"),
}
_TITLES = {
    "plays": "Predicted, and delivered by real models",
    "order": "Gain of one method over another: predicted, and delivered by real models",
    "phases": "Every phase of a round: predicted, and with real models",
    "assumptions": "What each assumption of the prediction moves, dropped alone",
}
_ORIGIN = (
    *("pair", "target", "drafts", "date", "cpu", "gpu", "seed", "compute_type", "temperature", "text_tokens", "clock"),
    *("scenario", "interval_level", "note"),
)
_STORED = "played with real models and stored; the table loop_models says which, when and where"


def model_loop(stored: Sequence[Row]) -> Record:
    """The tables `loop_models`, where each result comes from, and `loop_plays`, `_order`, `_phases`, `_assumptions`."""
    import pandas as pd

    tables = {"loop_models": pd.DataFrame([_origin(one) for one in stored], columns=list(_ORIGIN))}
    about = {"loop_models": undrawn("Loops closed with real models", "stored results; ours")}
    for name, columns in _COLUMNS.items():
        tables[f"loop_{name}"] = _joined(stored, name, columns)
        about[f"loop_{name}"] = undrawn(_TITLES[name], _STORED)
    return Record({"tables": about}, tables)


def _origin(one: Mapping[str, Any]) -> Row:
    machine = one.get("machine", {})
    words = {
        "pair": one["name"],
        "drafts": ", ".join(one["drafts"]),
        "cpu": machine.get("cpu"),
        "gpu": machine.get("gpu"),
    }
    return {key: words.get(key, one.get(key)) for key in _ORIGIN}


def _joined(stored: Sequence[Row], name: str, columns: Sequence[str]) -> "pd.DataFrame":
    import pandas as pd

    rows = [{"pair": one["name"], **row} for one in stored for row in one[name]]
    for row in rows:
        if "same_control" in columns:
            row["same_control"] = ", ".join(row["same_control"])
    return pd.DataFrame([{key: row.get(key) for key in columns} for row in rows], columns=list(columns))
