"""Many pure functions at once: on this machine, or on a Dask cluster; every task on one thread.

One thread, because how a matrix product is shared among threads may change its last digit: the results are the same
whatever the number of workers is.
"""

import contextlib
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msopt import ParameterError
from reports.ending import follow

Task = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function that can be pickled, and its arguments."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(tasks: Sequence[Task], *, jobs: int | None = None, dask: str | None = None) -> Iterator[tuple[int, Any, float]]:
    """The number, the result and the processor time [s] of each task, as they are done.

    Left before its end, it ends its workers; killed, they end by themselves.

    Parameters
    ----------
    tasks : sequence of (function, arguments)
    jobs : int, optional
        Processes on this machine; one for each core by default.
    dask : str, optional
        Address of a Dask scheduler that takes the tasks instead.

    Raises
    ------
    ParameterError
        Where the scheduler cannot be reached.
    """
    from joblib import Parallel, delayed, parallel_config

    if not tasks:
        return
    with contextlib.ExitStack() as stack:
        workers = jobs or cores()
        of_workers: dict[str, Any] = {"initializer": follow, "initargs": (os.getpid(),)}
        if dask is not None:
            stack.enter_context(_client(dask))
            # More in flight than there are workers, which joblib asks the cluster for.
            stack.enter_context(parallel_config(backend="dask"))
            workers, of_workers = -1, {}
        parallel = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1, **of_workers)
        results = parallel(delayed(_one)(number, *task) for number, task in enumerate(tasks))
        stack.callback(_close, results)
        for result in results:  # noqa: UP028  `yield from` would close the results before `_close` does
            yield result


def _one(number: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[int, Any, float]:
    from threadpoolctl import threadpool_limits

    started = time.process_time()
    with threadpool_limits(1):
        result = function(*arguments)
    return number, result, time.process_time() - started


def _close(results: Any) -> None:
    """End what still runs, without joblib's advice to whoever does not wait for all of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results.close()


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise ParameterError("--dask needs the packages of msopt[sweep]: dask and distributed") from None
    try:
        return Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise ParameterError(f"--dask {address}: no scheduler answers: {error}") from None
