"""How much memory a computation may ask for: what this machine has available, which caches do not take away."""

from msopt.errors import ParameterError

_MEMINFO = "/proc/meminfo"


def require_memory(needed: int, what: str, remedy: str = "") -> None:
    """Raise ParameterError where a computation needs more bytes than are available, before it is begun.

    Parameters
    ----------
    needed : int
        [byte].
    what, remedy : str
        What needs them, and what to do where they are not there.
    """
    available = available_bytes()
    if available is not None and needed > available:
        raise ParameterError(
            f"{what} needs about {needed >> 20} MiB of memory; {available >> 20} MiB are available"
            + (f"; {remedy}" if remedy else "")
        )


def available_bytes() -> int | None:
    """What can be given to programs without swapping [byte], MemAvailable of Linux; None where a machine does not tell.

    Free memory is not it: a machine that has run for a day keeps files in nearly all of what no program uses.
    """
    try:
        with open(_MEMINFO, encoding="ascii") as lines:
            entries = dict(line.split(":", 1) for line in lines if ":" in line)
        return int(entries["MemAvailable"].split()[0]) << 10
    except (OSError, ValueError, KeyError, IndexError):
        return None
