"""The prompts that acceptance is measured on, by task; our own words, in `prompts.toml`."""

import hashlib
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from msopt.errors import ParameterError, describe


@cache
def all_prompts() -> dict[str, tuple[str, ...]]:
    """Task to prompts."""
    text = (Path(__file__).parent / "prompts.toml").read_text(encoding="utf-8")
    return {task: tuple(prompts) for task, prompts in tomllib.loads(text).items()}


def prompts_of(task: str, count: int | None = None) -> tuple[str, ...]:
    """The prompts of a task, or its first few; ParameterError where there is no such task, or it has not so many."""
    known = all_prompts()
    if task not in known:
        raise ParameterError(f"task = {describe(task)} is not one of {', '.join(known)}")
    if count is not None and not 1 <= count <= len(known[task]):
        raise ParameterError(f"{count} prompts of {task}: from 1 to {len(known[task])} is allowed")
    return known[task][:count]


def sha256_of(prompts: Sequence[str]) -> str:
    """SHA-256 of prompts, one after the other with a line break after each."""
    return hashlib.sha256("".join(f"{prompt}\n" for prompt in prompts).encode()).hexdigest()
