"""Best first: the greatest of a table found by its regions' bounds, what limits leave, where intervals are halved."""

import numpy as np
import pytest

from msopt.arrays import FloatArray
from msopt.numerics.best_first import BestFirst, SearchEffort, cut, is_narrow
from tests.tolerances import EXACT

TABLE = np.random.default_rng(20260612).random(200)
LOOSE = 1.05  # times the greatest of a region: its bound


class Greatest(BestFirst[tuple[int, int]]):
    """The greatest of a table: a region is a slice, closed when it is one number."""

    numbers = 10

    def __init__(self, table: FloatArray, effort: SearchEffort) -> None:
        super().__init__(effort)
        self.table, self.value = table, 0.0
        self.add(0, table.size)

    @property
    def trial(self) -> float:
        return self.value

    def add(self, first: int, end: int) -> None:
        self.nodes += 1
        self.regions += 1
        if end - first == 1:
            self.value = max(self.value, float(self.table[first]))
        elif end > first:
            self.keep(LOOSE * float(np.max(self.table[first:end])), (first, end))

    def split(self, region: tuple[int, int]) -> None:
        first, end = region
        middle = (first + end) // 2
        self.add(first, middle)
        self.add(middle, end)


def test_to_its_end_the_search_has_the_greatest_and_looks_at_few() -> None:
    search = Greatest(TABLE, SearchEffort())
    while search.step():
        pass
    assert search.value == search.bound == np.max(TABLE)
    assert not search.open
    assert search.nodes < TABLE.size  # a whole tree has twice as many


@pytest.mark.parametrize(
    ("effort", "most"), [({"regions": 9}, 9), ({"numbers": 70}, 7), ({"nodes": 5}, 5), ({"seconds": 0.0}, 1)]
)
def test_a_limit_ends_it_with_a_bound(effort: dict[str, float], most: int) -> None:
    """One step looks at two regions: that is how far a limit is passed at most."""
    search = Greatest(TABLE, SearchEffort(**effort))  # type: ignore[arg-type]
    while search.step():
        pass
    assert search.spent
    assert search.open
    assert search.regions <= most + 1
    assert search.bound >= np.max(TABLE)


@pytest.mark.parametrize("origin", [0.0, 3.0])
def test_intervals_are_halved_by_their_distances_from_the_origin(origin: float) -> None:
    assert cut(origin, origin + 16.0, origin) == origin + 1.0
    assert cut(origin + 1.0, origin + 100.0, origin) == pytest.approx(origin + 10.0, rel=EXACT)
    assert cut(origin + 2.0, origin + 4.0, origin) == origin + 3.0


def test_nothing_is_left_to_halve_between_neighbouring_floats() -> None:
    assert is_narrow(1.0, np.nextafter(1.0, 2.0))
    assert is_narrow(1.0, 1.0 + 1e-13)
    assert not is_narrow(1.0, 1.0 + 1e-12)
