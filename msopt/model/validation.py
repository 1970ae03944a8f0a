"""What a scenario may hold: every check of a value, with one line that says where it fails and what is allowed."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np

from msopt.arrays import BoolArray, FloatArray
from msopt.errors import ParameterError, describe
from msopt.model.sharing import UplinkSharing

Fields = Mapping[str, Any]

POSITIVE = "a finite number above 0"
NOT_NEGATIVE = "a finite number of at least 0"
LARGEST_SNR_DB = 1000.0

TABLES = {
    "server": (
        "verify_base_s",
        "verify_per_device_s",
        "verify_per_token_s",
        "downlink_power_w",
        "server_draft_s_per_token",
    ),
    "radio": ("uplink_bandwidth_hz", "downlink_bandwidth_hz", "uplink_sharing"),
    "payload": ("token_bits", "distribution_bits"),
    "limits": ("min_draft_length", "max_draft_length"),
}
"""The scenario's fields by the table of the scenario file that holds them."""


ABOVE_ZERO = ("downlink_power_w", "uplink_bandwidth_hz", "downlink_bandwidth_hz", "distribution_bits")
NUMBERS = (
    *ABOVE_ZERO,
    "verify_base_s",
    "verify_per_device_s",
    "verify_per_token_s",
    "token_bits",
    "server_draft_s_per_token",
)
SMALLEST, LARGEST = 1e-30, 1e30
_BETWEEN = f"between {SMALLEST:g} and {LARGEST:g}"
LARGEST_WHOLE = 2**63 - 1
"""Of any whole number, seeds and node limits among them: what a column of a table holds."""
MOST_TOKENS = 1_000_000_000
"""The longest draft [token]."""
MOST_DEVICES = 1_000_000
"""That are drawn: a typing error beyond must not fill the memory."""
MOST_SAMPLES = 10_000_000
"""Outcomes that are drawn."""
MOST_GRID_POINTS = 10_000
"""Of either variable of method `grid`."""
MOST_TRIALS = 1_000_000
"""Random scenarios behind each row of a cross-check."""
MOST_MEASURED = 1_000_000
"""Prompts, tokens, rows or repeats of a measurement."""
MOST_JOBS = 1024
"""Processes on one machine."""
MOST_SERVED = 10_000
"""The longest draft of a server that drafts and verifies itself [token]."""
MOST_TOGETHER = 100_000
"""The greatest batch size of such a server."""


def key_of(field: str) -> str:
    """The key of a field within its table."""
    return field.removeprefix("server_")


def device_label(names: Sequence[str], k: int) -> str:
    """How messages name device k: by place and name."""
    return f"devices[{k}] ({describe(names[k])})"


def check(fields: Fields) -> None:
    """Raise ParameterError for the first of a scenario's fields outside its domain."""
    _check_names(fields["device_names"], fields["acceptance"].mean.size)
    _check_devices(fields)
    _check_acceptance(fields)
    _check_totals(fields)
    _check_lengths(fields)


def _label(fields: Fields, k: int) -> str:
    return device_label(fields["device_names"], k)


def _place(field: str) -> str:
    return next(f"{table}.{key_of(field)}" for table, held in TABLES.items() if field in held)


def _check_names(names: Sequence[object], count: int) -> None:
    if len(names) != count:
        raise ParameterError(f"there are {len(names)} device names and {count} acceptances; one of each is needed")
    seen: dict[str, int] = {}
    for k, name in enumerate(names):
        if not isinstance(name, str) or not name.strip():
            raise ParameterError(f"devices[{k}]: name = {describe(name)} is not a text of at least one character")
        _check_text(f"devices[{k}]: name", name)
        if name in seen:
            raise ParameterError(f"devices[{k}]: name = {describe(name)} is already the name of devices[{seen[name]}]")
        seen[name] = k


def _check_text(where: str, text: str) -> None:
    """Lone surrogates, halves of characters, stand in no file."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"{where} = {describe(text)} is not text: it holds half a character") from None


def _check_each(fields: Fields, field: str, values: FloatArray, good: BoolArray, allowed: str) -> None:
    bad = np.flatnonzero(~(good & np.isfinite(values)))
    if bad.size:
        k = int(bad[0])
        raise ParameterError(f"{_label(fields, k)}: {field} = {values[k]:g} is not {allowed}")


def _check_devices(fields: Fields) -> None:
    count = len(fields["device_names"])
    for field in ("draft_s_per_token", "uplink_snr_db", "downlink_snr_db"):
        values = fields[field]
        if values.size != count:
            raise ParameterError(f"{field} has {values.size} values; {count} are needed, one for each device")
    draft = fields["draft_s_per_token"]
    _check_each(fields, "draft_s_per_token", draft, draft >= 0.0, NOT_NEGATIVE)
    usual = (draft == 0.0) | ((draft >= SMALLEST) & (draft <= LARGEST))
    _check_each(fields, "draft_s_per_token", draft, usual, _BETWEEN)
    for field in ("uplink_snr_db", "downlink_snr_db"):
        good = np.abs(fields[field]) <= LARGEST_SNR_DB
        _check_each(
            fields, field, fields[field], good, f"a finite number from {-LARGEST_SNR_DB:g} to {LARGEST_SNR_DB:g} [dB]"
        )


def _check_acceptance(fields: Fields) -> None:
    mean, std = fields["acceptance"].mean, fields["acceptance"].std
    for k, curve in enumerate(fields["acceptance"].curves):
        if curve is not None:
            _check_curve(curve, _label(fields, k))
    bad = np.flatnonzero(~((mean >= 0.0) & (mean <= 1.0)))
    if bad.size:
        k = int(bad[0])
        hint = f"; did you mean {mean[k] / 100:g}?" if 1.5 <= mean[k] <= 100.0 else ""
        raise ParameterError(f"{_label(fields, k)}: acceptance = {mean[k]!s} is outside [0, 1]{hint}")
    _check_each(fields, "acceptance_std", std, std >= 0.0, NOT_NEGATIVE)
    bad = np.flatnonzero((std > 0.0) & (std * std >= mean * (1.0 - mean)))
    if bad.size:
        k = int(bad[0])
        limit = float(np.sqrt(mean[k] * (1.0 - mean[k])))
        raise ParameterError(
            f"{_label(fields, k)}: acceptance_std = {std[k]:g} belongs to no Beta law of mean {mean[k]:g}; "
            f"it must be below {limit:.6g}"
        )


def _check_curve(curve: FloatArray, label: str) -> None:
    outside = curve[~((curve >= 0.0) & (curve <= 1.0))]
    if outside.size:
        raise ParameterError(f"{label}: acceptance_curve holds {outside[0]:g}, which is outside [0, 1]")
    rise = np.flatnonzero(np.diff(curve) > 0.0)
    if rise.size:
        low, high = curve[rise[0]], curve[rise[0] + 1]
        raise ParameterError(
            f"{label}: acceptance_curve rises from {low:g} to {high:g}; "
            "the probability that the first l tokens are all accepted cannot rise with l"
        )


def _check_totals(fields: Fields) -> None:
    if not isinstance(fields["name"], str):
        raise ParameterError(f"name = {describe(fields['name'])} is not a text")
    _check_text("name", fields["name"])
    for field in NUMBERS:
        if fields[field] is not None or field != "server_draft_s_per_token":
            _check_number(fields, field, above_zero=field in ABOVE_ZERO)
    if not any(fields[field] for field in ("verify_base_s", "verify_per_device_s", "verify_per_token_s")):
        raise ParameterError(
            "server.verify_base_s, server.verify_per_device_s and server.verify_per_token_s are all 0; one must not be"
        )
    allowed = get_args(UplinkSharing)
    sharing = fields["uplink_sharing"]
    if sharing not in allowed:
        words = " or ".join(f'"{word}"' for word in allowed)
        raise ParameterError(f"radio.uplink_sharing = {describe(sharing)} is not {words}")


def _check_number(fields: Fields, field: str, *, above_zero: bool) -> None:
    value = fields[field]
    allowed = POSITIVE if above_zero else NOT_NEGATIVE
    try:
        number = float("nan") if isinstance(value, bool | str | complex | np.complexfloating) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not (np.isfinite(number) and (number > 0.0 or (number == 0.0 and not above_zero))):
        raise ParameterError(f"{_place(field)} = {describe(value)} is not {allowed}")
    if number != 0.0 and not SMALLEST <= number <= LARGEST:
        raise ParameterError(f"{_place(field)} = {describe(value)} is not {_BETWEEN}")


def _check_lengths(fields: Fields) -> None:
    least, greatest = fields["min_draft_length"], fields["max_draft_length"]
    check_whole("limits.max_draft_length", greatest, 1, MOST_TOKENS)
    if least is not None:
        check_whole("limits.min_draft_length", least, 0, MOST_TOKENS)
        if least > greatest:
            raise ParameterError(f"limits.min_draft_length = {least} is above max_draft_length = {greatest}")


def check_whole(option: str, value: object, least: int, most: int = LARGEST_WHOLE) -> None:
    """Raise ParameterError where an option is not a whole number of at least some, and of at most some."""
    whole = not isinstance(value, bool) and isinstance(value, int | np.integer)
    if not whole or value < least:  # type: ignore[operator]
        raise ParameterError(f"{option} = {describe(value)} is not a whole number of at least {least}")
    if value > most:  # type: ignore[operator]
        raise ParameterError(f"{option} = {describe(value)} is above {most}, the most that is allowed")
