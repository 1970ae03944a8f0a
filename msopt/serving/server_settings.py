"""The setting by which each server takes its draft lengths: its own words, ready to be given to it.

vLLM and TensorRT-LLM take lengths by batch size, SGLang and llama.cpp one length for all. What each does with the
setting that the schedule does not mean is told: a length of 0 after which the drafter has missed tokens, drafts ended
early, verification of tokens that were not drafted.
"""

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from msopt.serving.batch_lengths import Schedule

Ranges = Sequence[tuple[int, int, int]]
"""Inclusive ranges of batch sizes: first, last, length."""


@dataclass(frozen=True)
class ServerSetting:
    """How one server other than vLLM is told its draft lengths.

    Attributes
    ----------
    by_batch : bool
        Whether it takes lengths by batch size; else one length for all.
    write : function
        The text of the setting from the draft model's name and the ranges, one range where not by batch.
    cautions : function
        What it does that the schedule does not mean, by the ranges.
    """

    by_batch: bool
    write: Callable[[str, Ranges], str]
    cautions: Callable[[Ranges], list[str]]


def setting_ranges(found: Schedule, by_batch: bool) -> Ranges:
    """The ranges of a schedule, or one range with its one length."""
    if by_batch:
        return found.ranges
    return [(1, int(found.batch_sizes[-1]), found.one_length)]


def pauses(ranges: Ranges) -> bool:
    """Whether some batch sizes draft and others do not."""
    lengths = {length for _, _, length in ranges}
    return 0 in lengths and len(lengths) > 1


def _sglang(draft: str, ranges: Ranges) -> str:
    length = ranges[0][2]
    return (
        f"--speculative-algorithm STANDALONE --speculative-draft-model-path {shlex.quote(draft)} "
        f"--speculative-num-steps {length} --speculative-eagle-topk 1 --speculative-num-draft-tokens {length + 1}"
    )


def _sglang_cautions(ranges: Ranges) -> list[str]:
    return [
        "SGLang's speculative-num-draft-tokens counts the target's own token, too; its adaptive mode, which is for "
        "EAGLE with topk 1 alone and is ignored with a draft model, is not written"
    ]


def _llamacpp(draft: str, ranges: Ranges) -> str:
    return f"--model-draft {shlex.quote(draft)} --spec-draft-n-max {ranges[0][2]} --spec-draft-p-min 0"


def _llamacpp_cautions(ranges: Ranges) -> list[str]:
    return [
        "with spec-draft-p-min above 0 llama.cpp ends drafts early, and its length is only the most; earlier versions "
        "call the two --draft-max and --draft-p-min"
    ]


def _tensorrt(draft: str, ranges: Ranges) -> str:
    """YAML, each key being the greatest batch size of its length."""
    most = ranges[0][2]
    lasts = [after - 1 for _, (after, _, _) in pairwise(ranges)] + [ranges[-1][1]]
    by_last = [f"{last}: {min(length, most)}" for last, (_, _, length) in zip(lasts, ranges, strict=True)]
    return "\n".join(
        (
            "speculative_config:",
            "  decoding_type: Draft_Target",
            f"  max_draft_len: {most}",
            f"  speculative_model: {json.dumps(draft)}",
            f"  draft_len_schedule: {{{', '.join(by_last)}}}",
        )
    )


def _tensorrt_cautions(ranges: Ranges) -> list[str]:
    first, last = ranges[0][2], ranges[-1]
    texts = [
        "draft_len_schedule: each key is the greatest batch size of its length, as TensorRT-LLM reads it since pull "
        "request 10860 of March 2026; before, it was the least"
    ]
    if last[2]:
        texts.append(f"TensorRT-LLM drafts nothing above batch size {last[1]}, the last key")
    if any(length > first for _, _, length in ranges):
        texts.append(
            f"TensorRT-LLM wants the first length to be the greatest: lengths above {first} are written as {first}"
        )
    if len(ranges) > 1:
        texts.append(
            "where draft and target are two engines TensorRT-LLM verifies max_draft_len tokens at every batch size: "
            "a shorter length saves drafting alone"
        )
    return texts


SETTINGS = {
    "sglang": ServerSetting(False, _sglang, _sglang_cautions),
    "tensorrt-llm": ServerSetting(True, _tensorrt, _tensorrt_cautions),
    "llama.cpp": ServerSetting(False, _llamacpp, _llamacpp_cautions),
}
"""The servers beside vLLM, whose setting is `vllm_config.speculative_config`."""

SERVERS = ("vllm", *SETTINGS)
