"""Limits on what drafting and sending take: mean power, energy for a token (design section 7)."""

from typing import Any

import numpy as np

from msopt.model.control_limit import ControlLimit
from msopt.variants.limit_numbers import positive
from msopt.variants.table_rules import TableRules

_SOME_POWER = 1e-12


class _Energy(ControlLimit):
    """What limits a device's energy: drafting and sending take powers of their own."""

    unit, conic = "J", "none"

    def __init__(self, draft_power_w: Any, transmit_power_w: Any) -> None:
        self.draft_power_w = positive(f"{self.name}: draft_power_w", draft_power_w, zero=True)
        self.transmit_power_w = positive(f"{self.name}: transmit_power_w", transmit_power_w, zero=True)

    def left(self, at: Any) -> Any:
        """P_draft t + P_tx airtime [J]."""
        return self.draft_power_w * at.draft_s + self.transmit_power_w * at.airtime_s

    def _airtime(self, rules: TableRules, budget_j: Any, per_second_w: Any) -> None:
        power = np.maximum(self.transmit_power_w, _SOME_POWER)
        rules.airtime((budget_j - self.draft_power_w * rules.table.compute_s) / power, per_second_w / power)


class AveragePower(_Energy):
    """P_draft t_k + P_tx airtime_k <= P_mean T: what a device's cooling or battery bears in the long run [W]."""

    name = "average power"
    number, number_unit = "average_power_w", "W"

    def __init__(self, draft_power_w: Any, transmit_power_w: Any, average_power_w: Any) -> None:
        super().__init__(draft_power_w, transmit_power_w)
        self.average_power_w = positive(f"{self.name}: average_power_w", average_power_w)

    def right(self, at: Any) -> Any:
        """P_mean T [J]."""
        return self.average_power_w * at.round_s

    def on_table(self, rules: TableRules) -> None:
        """Airtime at most (P_mean T - P_draft t)/P_tx."""
        self._airtime(rules, 0.0, self.average_power_w)


class EnergyPerToken(_Energy):
    """P_draft t_k + P_tx airtime_k <= an energy for every token that comes out [J/token]."""

    name = "energy per token"
    number, number_unit = "joule_per_token", "J/token"

    def __init__(self, draft_power_w: Any, transmit_power_w: Any, joule_per_token: Any) -> None:
        super().__init__(draft_power_w, transmit_power_w)
        self.joule_per_token = positive(f"{self.name}: joule_per_token", joule_per_token)

    def right(self, at: Any) -> Any:
        """The energy of the expected tokens [J]."""
        return self.joule_per_token * np.asarray(at.device_goodput) * at.round_s

    def on_table(self, rules: TableRules) -> None:
        """Airtime at most (energy E - P_draft t)/P_tx."""
        self._airtime(rules, self.joule_per_token * rules.table.tokens, 0.0)
