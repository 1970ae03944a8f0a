"""Many pure functions at once: on this machine by joblib, or on a Dask cluster; every task on one thread.

One thread, because how a matrix product is shared among threads may change its last digit: the results are the same
whatever the number of workers is.
"""

import contextlib
import itertools
import logging
import os
import time
import warnings
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msopt import MsoptError, ParameterError
from reports.shared.ending import follow
from reports.shared.words import exception_words

_IN_FLIGHT = 64
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
    MsoptError
        Where workers or scheduler are lost.
    """
    if not tasks:
        return
    with contextlib.ExitStack() as stack:
        if dask is None:
            results = stack.enter_context(_here(tasks, jobs or cores()))
        else:
            stack.enter_context(_without_logs())
            results = _on_cluster(stack.enter_context(_client(dask)), tasks)
        with _lost(dask):
            for result in results:  # noqa: UP028  `yield from` would close the results before `_here` does
                yield result


@contextlib.contextmanager
def _here(tasks: Sequence[Task], workers: int) -> Iterator[Iterator[tuple[int, Any, float]]]:
    from joblib import Parallel, delayed

    parallel = Parallel(
        n_jobs=workers,
        return_as="generator_unordered",
        batch_size=1,
        initializer=follow,
        initargs=(os.getpid(),),
    )
    results = parallel(delayed(_one)(number, *task) for number, task in enumerate(tasks))
    try:
        yield results
    finally:
        # End what still runs, without joblib's advice to whoever does not wait for all of it.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.close()


def _on_cluster(client: Any, tasks: Sequence[Task]) -> Iterator[tuple[int, Any, float]]:
    """As many tasks in flight as keep the workers busy: a cluster does not hold a million of them well."""
    from distributed import as_completed

    left = iter(enumerate(tasks))

    def submitted(count: int) -> list[Any]:
        return [client.submit(_one, number, *task, pure=False) for number, task in itertools.islice(left, count)]

    running = as_completed(submitted(max(_IN_FLIGHT, 2 * sum(client.ncores().values()))))
    for future in running:
        yield future.result()
        running.update(submitted(1))


@contextlib.contextmanager
def _without_logs() -> Iterator[None]:
    """The cluster's library tells its log, with tracebacks, what `_lost` says in one line."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


@contextlib.contextmanager
def _lost(dask: str | None) -> Iterator[None]:
    """Say in one line that the workers are gone; what a task raises on purpose passes."""
    from joblib.externals.loky.process_executor import BrokenProcessPool

    try:
        yield
    except MsoptError:
        raise
    except BrokenProcessPool:
        raise MsoptError(
            "a worker process was ended from outside, or by what it ran: killed, out of memory, or exited"
        ) from None
    except (Exception, CancelledError) as error:
        if dask is None:
            raise
        raise MsoptError(f"--dask {dask}: its workers or its scheduler are lost: {exception_words(error)}") from None


def _one(number: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[int, Any, float]:
    from threadpoolctl import threadpool_limits

    started = time.process_time()
    with threadpool_limits(1):
        result = function(*arguments)
    return number, result, time.process_time() - started


def check_scheduler(address: str) -> None:
    """Raise ParameterError where no Dask scheduler answers at an address."""
    with _without_logs():
        _client(address).close()


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise ParameterError("--dask needs dask, not installed here; pip install 'msopt[sweep]'") from None
    try:
        return Client(address, timeout="10s")
    except Exception as error:
        raise ParameterError(f"--dask {address}: no scheduler answers: {exception_words(error)}") from None
