"""How a scenario shows itself: what the cell is, and its devices in a plane."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from msopt.model.sharing import spectral_efficiency
from msopt.shown.object_summary import Summary, counted, figures, spread_of
from msopt.shown.pictures import devices_in_plane, titled
from msopt.units import db_to_linear

if TYPE_CHECKING:
    from msopt.shown.pictures import Axes


def scenario_summary(fields: Mapping[str, Any], variant: tuple[str, ...]) -> Summary:
    """What a scenario with some fields says of itself; `variant` names those that make it a problem of its own."""
    mean, draft_ms = fields["acceptance"].mean, 1e3 * fields["draft_s_per_token"]
    names, idle = fields["device_names"], fields["verify_base_s"] + fields["verify_per_device_s"] * len(mean)
    up, down = fields["uplink_snr_db"], fields["downlink_snr_db"]
    facts = {
        "devices": str(len(names)),
        "acceptance": spread_of(mean, ""),
        "drafting": spread_of(draft_ms, "ms a token"),
        "uplink": f"{figures(1e-6 * fields['uplink_bandwidth_hz'], 'MHz')}, {spread_of(up, 'dB')}",
        "downlink": f"{figures(1e-6 * fields['downlink_bandwidth_hz'], 'MHz')}, {spread_of(down, 'dB')}",
        "verifying": figures(1e3 * idle, "ms")
        + (f" + {figures(1e3 * fields['verify_per_token_s'], 'ms a token')}" if fields["verify_per_token_s"] else ""),
    }
    if variant:
        facts["variant"] = ", ".join(f"{key} = {fields[key]}" for key in variant if np.ndim(fields[key]) == 0) or "yes"
    columns = {
        "device": names,
        "acceptance": [figures(value) for value in mean],
        "draft [ms]": [figures(value) for value in draft_ms],
        "uplink [dB]": [figures(value) for value in up],
        "downlink [dB]": [figures(value) for value in down],
    }
    return Summary(f"Scenario {fields['name']}", facts, columns)


def scenario_plot(fields: Mapping[str, Any], ax: "Axes | None") -> "Axes":
    """The devices: how fast each drafts, what a hertz carries for it, how often it is accepted."""
    axes = devices_in_plane(
        ax,
        fields["device_names"],
        ("uplink spectral efficiency [bit/s/Hz]", spectral_efficiency(db_to_linear(fields["uplink_snr_db"]))),
        ("drafting [ms a token]", 1e3 * fields["draft_s_per_token"]),
        ("acceptance rate [1]", fields["acceptance"].mean),
    )
    return titled(axes, f"{fields['name']}: {counted(len(fields['device_names']), 'device')}")
