"""The keys of a scenario, one row each: its table of the file, its unit, what it may hold, what it means.

The checks of a scenario, its file and what is shown of it read these rows; the design's table of symbols has the same.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

from msopt.model.sharing import UplinkSharing
from msopt.model.validation import LARGEST_SNR_DB, LARGEST_WHOLE, MOST_TOKENS, Choice, Flag, Number, Whole

UTILITY_NAMES = ("sum", "proportional-fair", "alpha-fair", "max-min", "admission")


@dataclass(frozen=True)
class Key:
    """One key of the scenario file.

    Attributes
    ----------
    table, key : str
        Where it stands; of `devices`, in the table of each device.
    unit, symbol, words : str
        Its row in the design's table; without a unit it has none there.
    domain : Number, Whole, Choice or Flag, optional
        What is allowed; None where the value alone does not tell (names, laws, profiles).
    kind : type
        Of the value, in the file and in the scenario.
    required : bool
        Whether no file may lack it; what is not may come of a profile, or have the scenario's default.
    optional : bool
        Whether a scenario may be without it.
    default : float, optional
        Of an optional number of a device, for devices without it beside others that have it.
    """

    table: str
    key: str
    unit: str = ""
    symbol: str = "–"
    words: str = ""
    domain: Number | Whole | Choice | Flag | None = None
    kind: Any = float
    required: bool = False
    optional: bool = False
    default: float | None = None

    @property
    def field(self) -> str:
        """The scenario's field; where two tables have a key, one of them is told from the other."""
        return _OTHER_FIELDS.get((self.table, self.key), self.key)

    @property
    def place(self) -> str:
        """How messages name it."""
        return f"{self.table}.{self.key}"


_OTHER_FIELDS = {
    ("server", "draft_s_per_token"): "server_draft_s_per_token",
    ("devices", "goodput_floor_tokens_per_s"): "device_goodput_floor_tokens_per_s",
}

_ABOVE_0, _FROM_0 = Number(above_zero=True), Number()
_SNR = Number(largest=LARGEST_SNR_DB, unit="dB")
_server, _radio, _payload, _limits, _device = (
    partial(Key, table) for table in ("server", "radio", "payload", "limits", "devices")
)
_variant, _own = partial(Key, "variant", optional=True), partial(Key, "devices", optional=True)
_CURVE = "probability that the first l drafted tokens are all accepted; S(0) = 1, non-increasing"
_UPLINK_SNR = "uplink, the device's full power spread over the whole uplink band; e_k = log2(1 + SNR_k)"
_DOWNLINK_SNR = "downlink, were all the server's power given to k over the whole downlink band"

KEYS: tuple[Key, ...] = (
    _server("verify_base_s", "s", "c0", "T_ver = c0 + c2 K + c1 Σ(L_k + 1), verification: of every batch", _FROM_0),
    _server("verify_per_device_s", "s", "c2", "for each device", _FROM_0),
    _server("verify_per_token_s", "s", "c1", "for each token that is verified; both papers: c1 = 0", _FROM_0),
    _server("downlink_power_w", "W", "P", "the server's total downlink power", _ABOVE_0, required=True),
    _server(
        "draft_s_per_token", "s", "–", "in `[server]`: a batch step of the small model there", _FROM_0, optional=True
    ),
    _server("profile", kind=str),
    _radio("uplink_bandwidth_hz", "Hz", "B", "the uplink band", _ABOVE_0, required=True),
    _radio("downlink_bandwidth_hz", "Hz", "Bd", "the downlink band", _ABOVE_0, required=True),
    _radio("uplink_sharing", domain=Choice(get_args(UplinkSharing)), kind=str),
    _payload("token_bits", "bit", "b", "one drafted token's index", _FROM_0, required=True),
    _payload("distribution_bits", "bit", "V", "one vocabulary distribution as sent", _ABOVE_0, required=True),
    _limits("min_draft_length", "token", "–", "least L_k", Whole(0, MOST_TOKENS), kind=int, optional=True),
    _limits("max_draft_length", "token", "–", "greatest L_k", Whole(1, MOST_TOKENS), kind=int),
    _device("name", kind=str, required=True),
    _device("acceptance", "1", "α_k", "probability that a drafted token is accepted, in [0, 1]"),
    _device("acceptance_std", "1", "σ_k", "deviation of that from prompt to prompt (Beta law)"),
    _device("acceptance_curve", "1", "S_k(l)", _CURVE, kind=list[float]),
    _device("draft_s_per_token", "s", "τ_k", "time to draft one token", _FROM_0),
    _device("uplink_snr_db", "dB", "SNR_k", _UPLINK_SNR, _SNR, required=True),
    _device("downlink_snr_db", "dB", "SNRd_k", _DOWNLINK_SNR, _SNR, required=True),
    _own("weight", "1", "ω_k", "weight in the utility", _FROM_0, default=1.0),
    _own("goodput_floor_tokens_per_s", "token/s", "γ_k", "in `[[devices]]`: the least goodput", _FROM_0, default=0.0),
    _own("draft_power_w", "W", "–", "a device's power while it drafts", _FROM_0),
    _own("transmit_power_w", "W", "–", "a device's power while it sends", _FROM_0),
    _own("average_power_w", "W", "–", "the greatest mean power of a device over a round", _ABOVE_0),
    _own(
        "round_trip_s", "s", "–", "what messages of a device that drafts are under way in a round", _FROM_0, default=0.0
    ),
    _variant("utility", domain=Choice(UTILITY_NAMES), kind=str),
    _variant("fairness_alpha", "1", "a", "of the utility alpha-fair", _ABOVE_0),
    _variant("goodput_floor_tokens_per_s", "token/s", "γ", "the least goodput of every device", _ABOVE_0),
    _variant(
        "token_latency_ceiling_s", "s", "–", "the longest mean time from one token of a device to its next", _ABOVE_0
    ),
    _variant("token_budget", "token", "–", "the most drafted tokens of a round", Whole(0, LARGEST_WHOLE), kind=int),
    _variant("slots", "1", "–", "the most devices that take part in a round", Whole(1, LARGEST_WHOLE), kind=int),
    _variant("bandwidth_floor_hz", "Hz", "–", "the least bandwidth of a device that drafts", _ABOVE_0),
    _variant("bandwidth_cap_hz", "Hz", "–", "the greatest bandwidth of a device", _ABOVE_0),
    _variant("resource_block_hz", "Hz", "–", "bandwidths are whole multiples of it", _ABOVE_0),
    _variant("padded_batches", domain=Flag(), kind=bool),
    _device("profile", kind=str),
    _device("task", kind=str),
)

ONE_FOR_ALL = tuple(row for row in KEYS if row.table != "devices" and row.domain is not None)
"""What a scenario has once, each in a field of its own."""
PER_DEVICE = tuple(row for row in KEYS if row.table == "devices" and row.domain is not None)
"""What it has for each device, in arrays of shape (K,); the laws of acceptance are an object of their own."""
VERIFY_TIMES = tuple(row.field for row in KEYS if row.key.startswith("verify_"))
"""The parts of the verification time: of the batch, of each device, of each token."""


OF_A_VARIANT = tuple(row.field for row in KEYS if row.table == "variant" or (row.table == "devices" and row.optional))
"""The fields that change the problem: only methods for variants take scenarios that have one."""


def keys_of(table: str) -> tuple[Key, ...]:
    """The rows of one table."""
    return tuple(row for row in KEYS if row.table == table)
