"""Every quantity that is shown, once: what it is called, its unit in SI, and its unit and digits for a reader.

Axes, the heads of tables in a terminal, on the page and in LaTeX, and the manifest's units are read from here.
"""

from collections.abc import Iterable
from typing import NamedTuple

FACTORS = {
    "MHz": 1e-6,
    "ms": 1e3,
    "ms/token": 1e3,
    "mW": 1e3,
    "kbit": 1e-3,
    "%": 100.0,
    "token/s per MHz": 1e6,
}
"""From SI to a reader's unit; 1 for any other."""
_READER_UNITS = {"s": "ms", "Hz": "MHz"}


class ShownQuantity(NamedTuple):
    """How a quantity is kept and shown.

    Attributes
    ----------
    words, unit : str
        Its name, and the unit of its values in SI, as in every file.
    shown : str
        The unit that a reader sees; "" where that is the same.
    digits : int
        Significant digits in a table.
    symbol : str
        What formulas call it; an axis says so.
    """

    words: str
    unit: str
    shown: str = ""
    digits: int = 4
    symbol: str = ""

    @property
    def reader_unit(self) -> str:
        """The unit that a reader sees."""
        return self.shown or self.unit

    @property
    def factor(self) -> float:
        """From SI to the reader's unit."""
        return FACTORS.get(self.reader_unit, 1.0)

    @property
    def head(self) -> str:
        """Words and unit."""
        return f"{self.words} [{self.reader_unit}]"

    @property
    def axis(self) -> str:
        """Words, symbol and unit."""
        return f"{self.words} {self.symbol}".rstrip() + f" [{self.reader_unit}]"


def _time(words: str, digits: int = 6, symbol: str = "") -> ShownQuantity:
    return ShownQuantity(words, "s", digits=digits, symbol=symbol)


def _goodput(words: str, digits: int = 5) -> ShownQuantity:
    return ShownQuantity(words, "token/s", digits=digits)


QUANTITIES: dict[str, ShownQuantity] = {
    "goodput_tokens_per_s": _goodput("goodput"),
    "standard_error_tokens_per_s": _goodput("standard error", 2),
    "bound_tokens_per_s": _goodput("no control above"),
    "relaxed_goodput_tokens_per_s": _goodput("optimum, real lengths"),
    "server_only_tokens_per_s": _goodput("without drafts"),
    "centralised_tokens_per_s": _goodput("drafts at the server"),
    "without_drafts_tokens_per_s": _goodput("without drafts"),
    "price_of_bandwidth_tokens_per_s_per_hz": ShownQuantity("price of bandwidth", "token/s/Hz", "token/s per MHz", 6),
    "gain_of_best": ShownQuantity("gain of the best over it", "1", "%", 3),
    "gap": ShownQuantity("bound above goodput", "1", "%", 3),
    "round_s": _time("round"),
    "draft_upload_s": _time("draft and upload"),
    "verify_s": ShownQuantity("verification time", "s", "ms"),
    "correction_s": _time("expected correction"),
    "exchange_s": _time("exchange"),
    "per_token_s": ShownQuantity("time to draft and send a token", "s", "ms", symbol="θ"),
    "draft_length": ShownQuantity("draft length", "token", symbol="L"),
    "draft_length_tokens": ShownQuantity("draft length", "token", symbol="L"),
    "bandwidth_hz": ShownQuantity("bandwidth", "Hz", "MHz", symbol="B"),
    "downlink_power_w": ShownQuantity("downlink power", "W", "mW"),
    "downlink_power_dbm": ShownQuantity("downlink power", "dBm"),
    "power_ratio": ShownQuantity("downlink power / device power", "1"),
    "rejection_probability": ShownQuantity("draft rejected", "1", "probability", 3),
    "uplink_probability": ShownQuantity("corrected by uplink", "1", "probability", 3),
    "downlink_probability": ShownQuantity("corrected by downlink", "1", "probability", 3),
    "expected_tokens": ShownQuantity("tokens", "token/round"),
    "acceptance": ShownQuantity("acceptance", "1", symbol="α"),
    "acceptance_std": ShownQuantity("its deviation over prompts", "1", digits=3),
    "draft_s_per_token": ShownQuantity("draft time", "s/token", "ms/token"),
    "measured_s_per_token": ShownQuantity("measured draft time", "s/token", "ms/token"),
    "uplink_snr_db": ShownQuantity("uplink SNR", "dB"),
    "downlink_snr_db": ShownQuantity("downlink SNR", "dB"),
    "distribution_bits": ShownQuantity("one distribution", "bit", "kbit"),
    "devices": ShownQuantity("devices", "devices", "1", symbol="K"),
    "batch_devices": ShownQuantity("batch", "devices"),
    "uplink_devices": ShownQuantity("size of the uplink set", "devices"),
    "table_i_part": ShownQuantity("deviation over prompts / [MS] Table I's", "1"),
    "rounds": ShownQuantity("rounds of a prompt", "round"),
}


def axis_of(column: str) -> ShownQuantity:
    """The quantity of a column; one that is not known is named by itself."""
    return QUANTITIES.get(column) or ShownQuantity(column.replace("_", " "), "1")


def axis_of_quantity(words: str, unit: str) -> ShownQuantity:
    """A quantity that is no column of its own, with its unit in SI."""
    return ShownQuantity(words, unit, _READER_UNITS.get(unit, ""))


def units_of(columns: Iterable[object]) -> dict[str, str]:
    """The unit in SI of each column that has one."""
    return {str(column): QUANTITIES[str(column)].unit for column in columns if column in QUANTITIES}
