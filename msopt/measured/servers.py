"""The servers whose words on acceptance are read: one record for each text that one of them writes."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from msopt.errors import ParameterError
from msopt.measured.llamacpp_log import ACCEPTANCE, DRAFTED, read_llamacpp, read_llamacpp_answers
from msopt.measured.prometheus_text import has_samples
from msopt.measured.request_metrics import HISTOGRAM, TENSORRT_ANSWERS, VLLM_ANSWERS, read_requests
from msopt.measured.served import Served
from msopt.measured.served_counts import Counts
from msopt.measured.server_records import ServerText, named, plain_lines, undecoded
from msopt.measured.sglang_answers import ROUNDS, read_sglang_answers
from msopt.measured.sglang_text import GAUGES, INFO, MEAN, read_sglang_gauges, read_sglang_info, read_sglang_log
from msopt.measured.speculation_counters import LLAMACPP_COUNTERS, VLLM_COUNTERS, read_counters
from msopt.measured.tensorrt_stats import COUNTERS, STATS, read_stats, read_tensorrt_counters
from msopt.measured.vllm_log import MARK, read_log
from msopt.model.validation import MOST_SERVED, check_whole


@dataclass(frozen=True)
class ServerReader:
    """One text of one server.

    Attributes
    ----------
    server, text : str
        The server's name, and what of its words this is.
    recognises : function
        Whether a text holds such words.
    read : function
        What they say.
    rate : str
        Which quantity its acceptance rate is.
    unknown : str
        What cannot be known from it.
    by_model : bool
        Whether it tells which model its numbers are of.
    """

    server: str
    text: str
    recognises: Callable[[ServerText], bool]
    read: Callable[[ServerText], Served]
    rate: str
    unknown: str
    by_model: bool = False


def _vllm_log(text: ServerText) -> Served:
    log = read_log(text.lines)
    served = Served.of_counts(log.counts, text.draft_length, log.lengths)
    notes = (*log.notes, *served.notes)
    return replace(served, notes=notes, method=log.method, draft_sample_method=log.draft_sample_method)


def _counters(prefix: str, text: ServerText) -> Served:
    counts = read_counters(text.lines, prefix, text.model)
    if prefix == LLAMACPP_COUNTERS:
        counts = [replace(part, by_confidence=True) for part in counts]
    return Served.of_counts(counts, text.draft_length)


def _by_record(read: Callable[[list[str]], tuple[list[Counts], list[str]]], text: ServerText) -> Served:
    counts, notes = read(text.lines)
    served = Served.of_counts(counts, text.draft_length)
    return replace(served, notes=(*notes, *served.notes))


def _samples(prefix: str) -> Callable[[ServerText], bool]:
    return lambda text: has_samples(text.lines, prefix)


def _holds(pattern: str | re.Pattern[str]) -> Callable[[ServerText], bool]:
    compiled = re.compile(pattern)
    return lambda text: text.holds(compiled)


_ANSWERS, _TENSORRT_ANSWERS = _holds(f'"{HISTOGRAM}"'), _holds(f'"{TENSORRT_ANSWERS.mark}"')
_ALL_DRAFTS = (
    'its rate by position is the share of all drafts whose first tokens were all accepted, "draft acceptance" '
)
_ALL_DRAFTS += "is accepted over drafted tokens"
_MEAN_ONLY = "S by position: that of the geometric law with these tokens a round stands in its place"
_POOLED = "how requests differ (they are pooled), and what drafts longer than its own would have had accepted"

READERS: tuple[ServerReader, ...] = (
    ServerReader(
        "vLLM",
        "counters",
        _samples(VLLM_COUNTERS),
        partial(_counters, VLLM_COUNTERS),
        rate="its counters by position are the drafts whose first tokens were all accepted",
        unknown=_POOLED,
        by_model=True,
    ),
    ServerReader("vLLM", "log", _holds(MARK), _vllm_log, rate=_ALL_DRAFTS, unknown=_POOLED),
    ServerReader(
        "vLLM",
        "answers",
        lambda text: _ANSWERS(text) and not _TENSORRT_ANSWERS(text),
        partial(_by_record, partial(read_requests, VLLM_ANSWERS)),
        rate="its histogram counts steps by accepted tokens, draft_acceptance_rate is accepted over drafted tokens",
        unknown=f"{_POOLED}; without the steps one by one, too, which drafts were shorter",
    ),
    ServerReader(
        "SGLang",
        "gauges",
        _samples(GAUGES),
        read_sglang_gauges,
        rate="spec_accept_length is tokens a round with the target's own, in the interval before the scrape",
        unknown=_MEAN_ONLY,
        by_model=True,
    ),
    ServerReader(
        "SGLang",
        "log",
        _holds(MEAN),
        read_sglang_log,
        rate="accept len is tokens a round with the target's own, accept rate accepted over drafted tokens, in "
        "earlier versions with the target's own on both sides",
        unknown=_MEAN_ONLY,
    ),
    ServerReader(
        "SGLang",
        "server info",
        _holds(f'"{INFO}"'),
        read_sglang_info,
        rate=f"{INFO} is tokens a round with the target's own, since the start",
        unknown=_MEAN_ONLY,
    ),
    ServerReader(
        "SGLang",
        "answers",
        _holds(f'"{ROUNDS}"'),
        read_sglang_answers,
        rate="its histogram counts rounds by accepted tokens; spec_accept_length is tokens a round with the target's "
        "own, spec_accept_rate accepted over drafted tokens, of a tree over those of all its branches",
        unknown=f"{_POOLED}; where its lengths adapt, which drafts were shorter",
    ),
    ServerReader(
        "TensorRT-LLM",
        "counters",
        _samples(COUNTERS),
        lambda text: Served.of_counts(read_tensorrt_counters(text.lines, text.model), text.draft_length),
        rate="its counters by position are the drafts that had so many tokens, and those whose first tokens were all "
        "accepted; without positions accepted and drafted tokens, acceptance_length tokens a round of one iteration",
        unknown=_POOLED,
        by_model=True,
    ),
    ServerReader(
        "TensorRT-LLM",
        "iteration statistics",
        _holds(f'"{STATS}"'),
        partial(_by_record, read_stats),
        rate="acceptanceLength is tokens a round with the target's own; its tokens and drafts are taken in its place",
        unknown=_MEAN_ONLY,
    ),
    ServerReader(
        "TensorRT-LLM",
        "answers",
        _TENSORRT_ANSWERS,
        partial(_by_record, partial(read_requests, TENSORRT_ANSWERS)),
        rate="its histogram counts steps by accepted tokens, acceptance_rate is accepted over drafted tokens",
        unknown=f"{_POOLED}; with a draft_len_schedule, which drafts were shorter",
    ),
    ServerReader(
        "llama.cpp",
        "counters",
        _samples(LLAMACPP_COUNTERS),
        partial(_counters, LLAMACPP_COUNTERS),
        rate="its counters by position are the drafts whose first tokens were all accepted",
        unknown=f"{_POOLED}, and where it ended drafts early for want of confidence (--spec-draft-p-min)",
    ),
    ServerReader(
        "llama.cpp",
        "log",
        _holds(ACCEPTANCE),
        partial(_by_record, read_llamacpp),
        rate="draft acceptance is accepted over drafted tokens, mean len tokens a round with the target's own, acc per "
        "pos the share of all drafts whose first tokens were all accepted",
        unknown=f"without acc per pos (told at trace level) {_MEAN_ONLY}; it ends drafts early for want of confidence "
        "(--spec-draft-p-min), and their mean length is taken for all",
    ),
    ServerReader(
        "llama.cpp",
        "answers",
        _holds(f'"{DRAFTED}"'),
        partial(_by_record, read_llamacpp_answers),
        rate="draft_n_accepted over draft_n is accepted over drafted tokens",
        unknown=f"{_MEAN_ONLY}; how many drafts there were",
    ),
)
"""In the order in which one server's texts are preferred where a file holds several."""


def read_server(text: str, model: str | None = None, draft_length: int | None = None) -> Served:
    """What a server's text says of acceptance.

    ParameterError in one line without the file's name, where the text says nothing on speculative decoding, is cut
    short, contradicts itself, speaks of several servers or models, or needs a draft length.

    Parameters
    ----------
    text : str
        Bytes that are not UTF-8 as lone surrogates (`whole_files.read_log`).
    model : str, optional
        The model, where counters of several are there.
    draft_length : int, optional
        The tokens of every draft, where the text does not tell them [token].
    """
    if draft_length is not None:
        check_whole("pooled length", draft_length, 1, MOST_SERVED)
    if text.startswith(("\udcff\udcfe", "\udcfe\udcff")):
        raise ParameterError("is a text in UTF-16; write it as UTF-8")
    asked = ServerText(plain_lines(text), model, draft_length)
    found = [reader for reader in READERS if reader.recognises(asked)]
    if not found:
        raise ParameterError(
            "holds neither lines nor counters nor JSON on speculative decoding of "
            f"{named(list(dict.fromkeys(reader.server for reader in READERS)))}: no drafts were verified, or "
            "statistics were switched off"
        )
    servers = list(dict.fromkeys(reader.server for reader in found))
    if len(servers) > 1:
        raise ParameterError(f"is a text of several servers ({named(servers)}); cut it to the lines of one")
    reader = found[0]
    if model is not None and not reader.by_model:
        raise ParameterError("a log does not say which model a line is of; a model can be named for counters only")
    served = reader.read(asked)
    cautions = [f"not known from {reader.server}'s {reader.text}: {reader.unknown}"] if served.pooled else []
    return replace(
        served,
        notes=(*undecoded(asked.lines), *served.notes, *cautions),
        source=f"{reader.server}'s {reader.text}: {reader.rate}; not known: {reader.unknown}",
    )
