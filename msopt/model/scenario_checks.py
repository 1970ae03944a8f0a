"""What a scenario may hold: every check of its fields, with one line that says where it fails and what is allowed."""

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial
from math import isclose
from typing import Any

import numpy as np

from msopt.arrays import FloatArray
from msopt.errors import ParameterError, and_more, describe
from msopt.model.fields import ONE_FOR_ALL, PER_DEVICE, VERIFY_TIMES
from msopt.model.validation import NOT_NEGATIVE, Number

Fields = Mapping[str, Any]

# Beyond these a number is more often a slip of its unit than meant.
PLAUSIBLE_SNR_DB = 60.0
PLAUSIBLE_BANDWIDTH_HZ = 1e4
PLAUSIBLE_DRAFT_S = 5.0

_ROUND_OFF = 1e-12


def device_label(names: Sequence[str], k: int) -> str:
    """How messages name device k: by place and name."""
    return f"devices[{k}] ({describe(names[k])})"


def check(fields: Fields) -> None:
    """Raise ParameterError for the first of a scenario's fields outside its domain."""
    _check_names(fields["device_names"], fields["acceptance"].mean.size)
    _check_devices(fields)
    _check_acceptance(fields)
    _check_totals(fields)


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


def _check_devices(fields: Fields) -> None:
    names = fields["device_names"]
    given = [row for row in PER_DEVICE if fields[row.field] is not None]
    for row in given:
        values = fields[row.field]
        if values.size != len(names):
            raise ParameterError(f"{row.field} has {values.size} values; {len(names)} are needed, one for each device")
    for row in given:
        assert isinstance(row.domain, Number)
        row.domain.check_each(row.key, fields[row.field], partial(device_label, names))


def _check_acceptance(fields: Fields) -> None:
    label = partial(device_label, fields["device_names"])
    mean, std = fields["acceptance"].mean, fields["acceptance"].std
    for k, curve in enumerate(fields["acceptance"].curves):
        if curve is not None:
            _check_curve(curve, label(k))
    bad = np.flatnonzero(~((mean >= 0.0) & (mean <= 1.0)))
    if bad.size:
        k = int(bad[0])
        hint = f"; did you mean {mean[k] / 100:g}?" if 1.5 <= mean[k] <= 100.0 else ""
        raise ParameterError(f"{label(k)}: acceptance = {mean[k]!s} is outside [0, 1]{hint}")
    bad = np.flatnonzero(~((std >= 0.0) & np.isfinite(std)))
    if bad.size:
        k = int(bad[0])
        raise ParameterError(f"{label(k)}: acceptance_std = {std[k]:g} is not {NOT_NEGATIVE}")
    bad = np.flatnonzero((std > 0.0) & (std * std >= mean * (1.0 - mean)))
    if bad.size:
        k = int(bad[0])
        limit = float(np.sqrt(mean[k] * (1.0 - mean[k])))
        raise ParameterError(
            f"{label(k)}: acceptance_std = {std[k]:g} belongs to no Beta law of mean {mean[k]:g}; "
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
    for row in ONE_FOR_ALL:
        value = fields[row.field]
        if row.domain is not None and not (value is None and row.optional):
            row.domain.check(row.place, value)
    if not any(fields[field] for field in VERIFY_TIMES):
        places = [f"server.{field}" for field in VERIFY_TIMES]
        raise ParameterError(f"{', '.join(places[:-1])} and {places[-1]} are all 0; one must not be")
    _check_variant(fields)
    least, greatest = fields["min_draft_length"], fields["max_draft_length"]
    if least is not None and least > greatest:
        raise ParameterError(f"limits.min_draft_length = {least} is above max_draft_length = {greatest}")


def _check_variant(fields: Fields) -> None:
    """Keys of a variant that have no meaning without each other."""
    if (fields["fairness_alpha"] is not None) != (fields["utility"] == "alpha-fair"):
        raise ParameterError('variant.fairness_alpha goes with utility = "alpha-fair", and that with it')
    powers = ("draft_power_w", "transmit_power_w", "average_power_w")
    given = [name for name in powers if fields[name] is not None]
    if given and len(given) < len(powers):
        missing = next(name for name in powers if name not in given)
        raise ParameterError(f"devices: {given[0]} is there and {missing} is not; a limit on power needs all three")


def slips(fields: Fields) -> tuple[str, ...]:
    """What is allowed but looks like a slip of a unit."""
    label, texts = partial(device_label, fields["device_names"]), []
    for field in ("uplink_snr_db", "downlink_snr_db"):
        values = fields[field]
        odd = np.flatnonzero(np.abs(values) > PLAUSIBLE_SNR_DB)
        if odd.size:
            k = int(odd[0])
            side = "above 60" if values[k] > 0 else "below -60"
            told = f"{label(k)}: {field} = {values[k]:g} is {side} dB; is it in dB?"
            texts.append(told + and_more(odd.size))
    for field in ("uplink_bandwidth_hz", "downlink_bandwidth_hz"):
        if fields[field] < PLAUSIBLE_BANDWIDTH_HZ:
            texts.append(f"radio.{field} = {fields[field]:g} is below 10 kHz; is it in Hz?")
    draft_s = fields["draft_s_per_token"]
    slow = np.flatnonzero(draft_s > PLAUSIBLE_DRAFT_S)
    if slow.size:
        k = int(slow[0])
        told = f"{label(k)}: draft_s_per_token = {draft_s[k]:g} is above 5 s; is it in seconds?"
        texts.append(told + and_more(slow.size))
    return tuple(texts)


def powers_changed(old: Fields, new: Fields, given: Container[str]) -> Iterator[str]:
    """What a change of bands or power does to powers that nobody named: an SNR is that of a power over a whole band."""
    wider = new["uplink_bandwidth_hz"] / old["uplink_bandwidth_hz"]
    if new["uplink_sharing"] == "power-limited" and "uplink_snr_db" not in given and wider != 1.0:
        yield (
            f"uplink_snr_db stayed: over {wider:.6g} times the band that takes {wider:.6g} times every device's power; "
            "use with_bandwidth, or give uplink_snr_db too"
        )
    wider = new["downlink_bandwidth_hz"] / old["downlink_bandwidth_hz"]
    louder = new["downlink_power_w"] / old["downlink_power_w"]
    if "downlink_snr_db" not in given and not isclose(wider, louder, rel_tol=_ROUND_OFF):
        yield (
            f"downlink_snr_db stayed: over {wider:.6g} times the band that takes {wider:.6g} times the power, and "
            f"downlink_power_w is {louder:.6g} times what it was; use with_bandwidth or with_downlink_power, or give "
            "downlink_snr_db too"
        )
