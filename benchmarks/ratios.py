"""Times measured side by side in one run, and their ratios with spread."""

import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence

Work = Callable[[], object]


def interleaved(works: Mapping[str, Work], turn: int) -> dict[str, float]:
    """Seconds of CPU of each work, in an order that turns from round to round."""
    names = list(works)
    taken = {}
    for name in names[turn % len(names) :] + names[: turn % len(names)]:
        start = time.process_time()
        works[name]()
        taken[name] = time.process_time() - start
    return taken


def collect(rounds: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """The values of each name over the rounds."""
    return {name: [each[name] for each in rounds] for name in rounds[0]}


def over(times: Mapping[str, Sequence[float]], yardstick: str) -> dict[str, list[float]]:
    """Every other work's time over the yardstick's, each ratio within its round."""
    base = times[yardstick]
    return {
        f"{name} / {yardstick}": [a / b for a, b in zip(values, base, strict=True)]
        for name, values in times.items()
        if name != yardstick
    }


def peak_bytes(work: Work) -> int:
    """The most memory that a work held at once, beyond what was held before it."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def table(title: str, rows: Mapping[str, Sequence[float]], unit: str, needed: Mapping[str, str] | None = None) -> None:
    """Median, quartiles and range of each row, and what is asked of it."""
    print(f"{title:<72}{'median':>11}{'quartiles':>25}{'min':>11}{'max':>11}")
    for name, values in rows.items():
        low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
        spread = f"{low:.4g} to {high:.4g}"
        asked = f"  ({needed[name]})" if needed and name in needed else ""
        middle = statistics.median(values)
        print(f"{name:<72}{middle:>11.4g}{spread:>25}{min(values):>11.4g}{max(values):>11.4g}  {unit}{asked}")
    print()
