"""The samples of a Prometheus text (a server's /metrics) that start with some prefix, each with its line."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msopt.errors import ParameterError, describe
from msopt.measured.server_records import named


@dataclass(frozen=True)
class CounterSample:
    """One line: its number from 1, the name behind the prefix without "_total", the labels and the value."""

    place: int
    name: str
    labels: Mapping[str, str]
    value: float


def has_samples(lines: Sequence[str], prefix: str) -> bool:
    """Whether some line is a sample whose name starts with the prefix."""
    return any(line.startswith(prefix) for line in lines)


def samples(lines: Sequence[str], prefix: str, unit: str) -> Iterator[CounterSample]:
    """The samples whose names start with a prefix; comments and times of creation are left out.

    ParameterError in one line for a line that prometheus_client's parser refuses, or a last one without a line break.

    Parameters
    ----------
    lines : sequence of str
        The last one has no line break after it unless it is empty.
    prefix : str
        Such as "vllm:spec_decode_num_".
    unit : str
        What a value is, for messages, such as "count (a whole number)".
    """
    from prometheus_client.parser import text_string_to_metric_families  # takes 0.1 s, for this alone

    if lines[-1].startswith(prefix):
        # The format asks for a line break, and without it half a number looks like a whole one.
        raise ParameterError(f"is cut short: its last line, {describe(lines[-1])}, has no line break")
    for place, line in enumerate(lines, 1):
        if not line.startswith(prefix) or line.partition("{")[0].partition(" ")[0].endswith("_created"):
            continue
        try:
            (family,) = text_string_to_metric_families(line + "\n")
            (sample,) = family.samples
        except ValueError:
            raise ParameterError(f"line {place} is cut short or holds no {unit}: {describe(line)}") from None
        yield CounterSample(place, sample.name.removeprefix(prefix).removesuffix("_total"), sample.labels, sample.value)


def one_model(models: Sequence[str], model: str | None) -> None:
    """Raise where the model that a user names is not there, or none is named and several are."""
    if model is not None and model not in models:
        raise ParameterError(f"has no counters of model {describe(model)}; it has {named(models) or 'none'}")
    if model is None and len(models) > 1:
        raise ParameterError(f"has counters of several models ({named(models)}); name one")
