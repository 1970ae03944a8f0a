"""The numbers that the papers quote, each a record: which mean or ratio of means, of which methods, where, how printed.

A record knows how to compute its number from goodputs by method, whatever they were drawn from: the claims judge it by
the draws of the figures, and whoever varies what the papers leave open may ask it the same at any setting.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from reports.shared.estimators import Mean, gain_of_means, mean_of, ratio_of_means
from reports.studies.study import OPTIMUM

Statistic = Literal["mean", "ratio", "gain"]
"""Of a method's goodputs: their mean; over another method's, the ratio of the means; that less 1."""
ABOUT = 0.05
"""How far a number "about" which something lies may be from it, relatively (ours)."""
REALISATIONS = 10
"""[MS]: of the channel, behind each of its numbers."""
UPLINK_SET = "best uplink set"
"""In place of a method: the size of the best uplink set of [UD] Fig. 6, a quantity of each draw as goodput is."""

_OF_ONE: Callable[..., Mean] = mean_of
_OF_TWO: dict[Statistic, Callable[..., Mean]] = {"ratio": ratio_of_means, "gain": gain_of_means}


@dataclass(frozen=True, kw_only=True)
class Quoted:
    """A number of a paper.

    Attributes
    ----------
    id, paper, preset : str
        `preset` is the model pair, a name in `msopt.PRESETS`.
    sentence : str
        What the paper says, in our words, narrowed to this number.
    statistic : "mean", "ratio" or "gain"
    scheme, over : str
        The methods: the first one's mean, over the second one's unless `statistic` is "mean".
    at : dict
        The setting, as in `reports.studies.settings`; other settings are the preset's own.
    along : str
        A setting at whose every value the sentence holds; "" for none.
    quoted, low, high : float
        As printed; and the numbers that are printed so, from the least to the greatest (infinite where it is a limit).
    unit : str
        "1" is shown in per cent.
    """

    id: str
    paper: str
    preset: str
    sentence: str
    statistic: Statistic
    scheme: str = OPTIMUM
    over: str = ""
    at: Mapping[str, float] = field(default_factory=dict)
    along: str = ""
    quoted: float
    low: float
    high: float
    unit: str = "1"

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods whose goodputs it needs."""
        return (self.scheme, self.over) if self.over else (self.scheme,)

    def estimate(self, goodputs: Mapping[str, Any]) -> Mean:
        """The number and its 95 % interval from goodputs by method, each of shape (draws,) and of the same draws."""
        return self._function()(*(goodputs[method] for method in self.methods))

    def mean_of_ratios(self, goodputs: Mapping[str, Any]) -> Mean | None:
        """What averaging over draws each draw's own ratio (or gain) gives; None where there is none."""
        if not self.over:
            return None
        own = np.asarray(goodputs[self.scheme], dtype=float) / np.asarray(goodputs[self.over], dtype=float)
        return mean_of(own - 1.0 if self.statistic == "gain" else own)

    def of_so_many(self, goodputs: Mapping[str, Any], draws: int = REALISATIONS) -> tuple[float, float]:
        """Where 95 of 100 papers would print their number, each with so many draws of its own."""
        estimate = self.estimate(goodputs)
        wider = math.sqrt(1.0 + estimate.draws / draws)
        if self.statistic == "mean":
            return tuple(estimate.mean + wider * (end - estimate.mean) for end in (estimate.low, estimate.high))  # type: ignore[return-value]
        shift = 1.0 if self.statistic == "gain" else 0.0
        middle, *ends = (math.log(value + shift) for value in (estimate.mean, estimate.low, estimate.high))
        return tuple(math.exp(middle + wider * (end - middle)) - shift for end in ends)  # type: ignore[return-value]

    def _function(self) -> Callable[..., Mean]:
        return _OF_ONE if self.statistic == "mean" else _OF_TWO[self.statistic]


def _ms(name: str, model: str, sentence: str, statistic: Statistic, **more: Any) -> Quoted:
    setting = {"devices": 20.0} if "at" not in more else {}
    return Quoted(
        id=f"{name}-{model}",
        paper="[MS]",
        preset=f"multispin-{model}",
        sentence=sentence,
        statistic=statistic,
        **({"at": setting} | more),
    )


def _printed(quoted: float, digit: float) -> dict[str, Any]:
    """A number printed to a last digit that is worth `digit`."""
    return {"quoted": quoted, "low": quoted - digit / 2.0, "high": quoted + digit / 2.0}


def _about(quoted: float) -> dict[str, float]:
    return {"quoted": quoted, "low": quoted * (1.0 - ABOUT), "high": quoted * (1.0 + ABOUT)}


_TO = {"llama2": "Llama-2", "qwen35": "Qwen3.5"}
_LEVEL = {"llama2": 145.0, "qwen35": 153.0}
_CENTRALISED = {"llama2": ("2.5 times", _printed(2.5, 0.1)), "qwen35": ("about 3 times", _about(3.0))}
_READINGS = {
    "centralised": "the server drafts for the whole batch in one step",
    "centralised-serial": "the server drafts for one device after another",
}
_FROM_K = {
    ("llama2", 10): ("21 %", _printed(0.21, 0.01)),
    ("llama2", 24): ("67 %", _printed(0.67, 0.01)),
    ("qwen35", 10): ("29 %", _printed(0.29, 0.01)),
    ("qwen35", 24): ("above 80 %", {"quoted": 0.8, "low": 0.8, "high": math.inf}),
}
UP_TO = 0.88
"""[MS]: the greatest gain over Fixed BW&L."""
_UP_TO_HIGH = _printed(UP_TO, 0.01)["high"]

QUOTED: tuple[Quoted, ...] = (
    *(
        _ms(
            "level", model, f"The best goodput is about {level:g} token/s ({_TO[model]}).", "mean",
            unit="token/s", **_about(level),
        )
        for model, level in _LEVEL.items()
    ),
    *(
        _ms(
            f"over-{reading}", model, f"That is {words} the centralised protocol ({_TO[model]}; {how}).", "ratio",
            over=reading, unit="times", **numbers,
        )
        for reading, how in _READINGS.items()
        for model, (words, numbers) in _CENTRALISED.items()
    ),
    _ms(
        "over-point-to-point", "llama2", "It is 4.6 times point-to-point (Llama-2).", "ratio",
        over="point-to-point", unit="times", **_printed(4.6, 0.1),
    ),
    *(
        _ms(
            "gain-at-5-mhz", model, f"The gain over the fixed scheme is 88 % at 5 MHz ({name}).", "gain",
            over="fixed", at={"devices": 20.0, "bandwidth_hz": 5e6}, **_printed(UP_TO, 0.01),
        )
        for model, name in _TO.items()
    ),
    *(
        _ms(
            "gain-at-most", model, f"The gain over the fixed scheme is at most 88 % at every bandwidth ({name}).",
            "gain", over="fixed", along="bandwidth_hz", quoted=UP_TO, low=-math.inf, high=_UP_TO_HIGH,
        )
        for model, name in _TO.items()
    ),
    *(
        _ms(
            f"gain-at-{devices}-devices", model,
            f"The gain over the fixed scheme is {words} at K = {devices} ({_TO[model]}).", "gain",
            over="fixed", at={"devices": float(devices)}, **numbers,
        )
        for (model, devices), (words, numbers) in _FROM_K.items()
    ),
    *(
        Quoted(
            id=f"best-uplink-set-{model}", paper="[UD]", preset=f"uldl-{model}",
            sentence=f"The best uplink set has 3 of the 8 devices rejected ({name}).",
            statistic="mean", scheme=UPLINK_SET, unit="devices", **_printed(3.0, 1.0),
        )
        for model, name in (("qwen25", "Qwen2.5"), ("deepseek-r1", "DeepSeek-R1"))
    ),
)  # fmt: skip
"""Every number that either paper quotes of its runs, in the papers' order."""
