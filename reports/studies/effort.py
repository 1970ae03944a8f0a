"""How much is computed: the quick run that `make report` does, and the full one."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Effort:
    """Draws, points and scenarios of the studies.

    Attributes
    ----------
    name : str
        "quick" or "full".
    devices : int
        K of the figures that do not vary it.
    draws : dict
        Channel draws at every point of every figure, by problem, but for the next.
    curve_draws : int
        Channel draws of [MS] Figs. 3 and 6 to 8 and [UD] Fig. 6, which take milliseconds: gains over Fixed BW&L are
        heavy-tailed, and no interval of few draws covers what rare deep fades do to a mean.
    bandwidth_hz, ms_devices, downlink_power_dbm, ud_devices, power_ratio, table_i_part : tuples
        The points of the figures.
    greedy_power_dbm : tuple
        The downlink powers, some of the figure's, at which Algorithm 1 of [UD] is taken apart.
    gains_draws, gains_devices : dict
        By problem: draws of each setting of each family of the gains, and the K of the families that do not vary it.
    prompts, rounds : int
        Prompts behind the value of knowing them, of each draw; rounds in which acceptance is learnt.
    """

    name: str
    devices: int = 20
    draws: dict[str, int]
    curve_draws: int
    bandwidth_hz: tuple[float, ...]
    ms_devices: tuple[int, ...]
    downlink_power_dbm: tuple[float, ...]
    greedy_power_dbm: tuple[float, ...]
    ud_devices: tuple[int, ...]
    power_ratio: tuple[float, ...]
    table_i_part: tuple[float, ...]
    gains_draws: dict[str, int]
    gains_devices: dict[str, int]
    prompts: int
    rounds: int


_GAINS_DEVICES = {"heterogeneous": 20, "modes": 12}
QUICK = Effort(
    name="quick",
    draws={"heterogeneous": 6, "modes": 10},
    curve_draws=400,
    bandwidth_hz=(5e6, 10e6, 15e6, 20e6),
    ms_devices=(10, 15, 20, 24, 40),
    downlink_power_dbm=(0.0, 20.0, 35.0, 50.0),
    greedy_power_dbm=(20.0,),
    ud_devices=(8, 12, 16),
    power_ratio=(1.0, 4.0, 16.0),
    table_i_part=(0.2, 0.6, 1.0),
    gains_draws={"heterogeneous": 6, "modes": 1},
    gains_devices=_GAINS_DEVICES,
    prompts=8,
    rounds=1000,
)
FULL = Effort(
    name="full",
    draws={"heterogeneous": 40, "modes": 40},
    curve_draws=400,
    bandwidth_hz=(5e6, 7.5e6, 10e6, 12.5e6, 15e6, 17.5e6, 20e6),
    ms_devices=(10, 12, 14, 16, 18, 20, 22, 24, 32, 40),
    downlink_power_dbm=tuple(5.0 * step for step in range(11)),
    greedy_power_dbm=(0.0, 20.0, 30.0, 40.0),
    ud_devices=(6, 8, 10, 12, 14, 16, 18, 20),
    power_ratio=(1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0),
    table_i_part=(0.2, 0.4, 0.6, 0.8, 1.0),
    gains_draws={"heterogeneous": 40, "modes": 8},
    gains_devices=_GAINS_DEVICES,
    prompts=32,
    rounds=10_000,
)
EFFORTS = {effort.name: effort for effort in (QUICK, FULL)}
