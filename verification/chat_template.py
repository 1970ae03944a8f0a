"""A chat template makes a prompt of a user's message. It is a program of strangers, so it runs in a process of its own.

Within Python neither an endless loop in compiled code (`9**99999999`) nor a text of 10¹¹ characters can be stopped from
outside; a process can be ended, and its memory limited.
"""

import multiprocessing
import os
import sys
import warnings
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from msopt.errors import ParameterError, describe
from verification.boundary import reason

TIME_LIMIT_S = 20.0
"""A template takes a few milliseconds; only a system that gives no forked processes loads its libraries anew."""

MOST_BYTES = 2**29
"""Of memory that a template may take in addition."""

MOST_CHARACTERS = 200_000
"""Of what a template may make of one message."""

_FORK = sys.platform == "linux"


def rendered(name: str, tokenizer: Any, prompt: str) -> str:
    """What a tokenizer's chat template makes of a prompt as a user's message.

    ParameterError where it fails, takes too long or makes too much; `name` is the model's.
    """
    failed, text = _in_a_process(tokenizer, prompt)
    if failed:
        raise ParameterError(f"the chat template of {describe(name)} cannot be used: {text}")
    return text


def _in_a_process(tokenizer: Any, prompt: str) -> tuple[bool, str]:
    """Whether it failed, and the text or else why."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # tokenizers complains of forks otherwise
    context: Any = multiprocessing.get_context("fork" if _FORK else "spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_render, args=(sender, tokenizer, prompt), daemon=True)
    with warnings.catch_warnings():
        # Threads do not live on in the child, which takes no lock of theirs: it runs plain Python and ends.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    sender.close()
    try:
        if not receiver.poll(TIME_LIMIT_S):
            return True, f"it takes more than {TIME_LIMIT_S:g} s"
        failed, text = receiver.recv()
        return bool(failed), str(text)
    except EOFError:
        return True, "its process ended without an answer"
    finally:
        process.kill()
        process.join()
        process.close()
        receiver.close()


def _render(sender: Connection, tokenizer: Any, prompt: str) -> None:
    try:
        _confine()
        message = [{"role": "user", "content": prompt}]
        text = tokenizer.apply_chat_template(message, add_generation_prompt=True, tokenize=False)
        if not isinstance(text, str) or len(text) > MOST_CHARACTERS:
            raise ValueError(f"it makes more than {MOST_CHARACTERS} characters of a prompt")
        if not text:
            raise ValueError("it makes nothing of a prompt")
        text.encode()
        answer = (False, text)
    except MemoryError:
        answer = (True, f"it takes more than {MOST_BYTES >> 20} MiB of memory")
    except BaseException as error:
        answer = (True, reason(error))
    sender.send(answer)
    sender.close()
    os._exit(0)  # nothing of the parent's is to be flushed or tidied up here


def _confine() -> None:
    """Limits that hold even where the parent is gone, on systems that have them."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's, which ends this process
    with suppress(ImportError, OSError, ValueError):
        import resource

        seconds = int(TIME_LIMIT_S) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + MOST_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
