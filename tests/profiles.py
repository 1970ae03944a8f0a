"""Profiles for tests: invented numbers in the shape of a measurement, drawn by hypothesis or one that stands still."""

from typing import Any

from hypothesis import strategies as st

from msopt.measured.profile import Profile
from msopt.measured.provenance import Machine, Model, Sampling, Vocabulary
from msopt.measured.step_times import BatchTiming, Term, Timing, Verification, VerificationFit, VerificationRow
from msopt.measured.task_acceptance import Estimate, PayloadRow, Spread, TaskAcceptance, curve_of_counts

SHA = "0123456789abcdef" * 4


def timing(median_s: float, *, spread: float = 0.1, n: int = 20) -> Timing:
    low, high = median_s * (1.0 - spread), median_s * (1.0 + spread)
    return Timing(median_s=median_s, q10_s=low, q25_s=low, q75_s=high, q90_s=high, n=n)


def task(visited: list[int], accepted: list[int], **more: Any) -> TaskAcceptance:
    curve = curve_of_counts(visited, accepted)
    seen, kept = sum(p.visited for p in curve), sum(p.accepted for p in curve)
    estimate = Estimate.of_counts(kept, seen)
    return TaskAcceptance(
        **{
            "prompts": 6,
            "prompts_sha256": SHA,
            "drafted": len(visited) * (visited[0] if visited else 0),
            "by_counts": estimate,
            "by_overlap": estimate,
            "curve": curve,
        }
        | more
    )


def term(seconds: float, *, needed: bool = True) -> Term:
    return Term(seconds=seconds, standard_error_s=0.01 * seconds, p_value=0.0 if needed else 0.7, needed=needed)


def verification(base_s: float, per_device_s: float = 0.0, per_token_s: float = 0.0) -> Verification:
    grid = [(batch, length) for batch in (1, 4) for length in (0, 4)]
    return Verification(
        rows=tuple(
            VerificationRow(
                batch=batch,
                draft_length=length,
                time=timing(base_s + per_device_s * batch + per_token_s * batch * (length + 1)),
            )
            for batch, length in grid
        ),
        fit=VerificationFit(
            base=term(base_s),
            per_device=term(per_device_s),
            per_token=term(per_token_s),
            r_squared=0.999,
            residuals_s=(0.0,) * len(grid),
            max_relative_residual=0.0,
        ),
    )


def profile(**changes: Any) -> Profile:
    """A profile with two tasks, all of its parts there; `changes` replace fields."""
    fields: dict[str, Any] = {
        "name": "invented pair",
        "draft": Model(
            name="small", source="org/small", compute_type="float32", parameters=100, layers=30, layers_left_out=(3, 9)
        ),
        "target": Model(name="large", source="large.gguf", quantisation="Q4_K_M", compute_type="float32",
                        file_sha256=SHA, parameters=1000, layers=30),
        "vocabulary": Vocabulary(
            tokenizer_entries=49152, draft_entries=49152, target_entries=49280, shared_entries=49152,
            draft_mass_outside=0.0, target_mass_outside=1e-9,
        ),
        "sampling": Sampling(temperature=1.0, draft_length=4),
        "machine": Machine(cpu="some processor", threads=2),
        "versions": {"torch": "2.4.0"},
        "seed": 1,
        "date": "2026-01-31",
        "tasks": {
            "code": task([100, 90, 80, 70], [90, 80, 70, 63], over_prompts=Spread(mean=0.89, std=0.1, prompts=6)),
            "chat": task([100, 60, 30], [60, 31, 15]),
        },
        "draft_time": timing(0.02),
        "server_draft": (BatchTiming(batch=1, time=timing(0.004)), BatchTiming(batch=8, time=timing(0.006))),
        "verification": verification(0.1, 0.01, 0.001),
        "prompt_processing": (BatchTiming(batch=1, tokens=64, time=timing(0.3)),),
        "payload": (
            PayloadRow(kept_entries=64, probability_bits=8, distribution_bits=1536,
                       acceptance=Estimate.of_counts(300, 500)),
            PayloadRow(kept_entries=1024, probability_bits=16, distribution_bits=32768,
                       acceptance=Estimate.of_counts(350, 500)),
        ),
    }  # fmt: skip
    return Profile(**(fields | changes))


@st.composite
def tasks(draw: st.DrawFn) -> TaskAcceptance:
    visited, accepted = [], []
    rounds = draw(st.integers(0, 500))
    for _ in range(draw(st.integers(0, 8))):
        if not rounds:
            break
        visited.append(rounds)
        accepted.append(draw(st.integers(0, rounds)))
        rounds = draw(st.integers(0, accepted[-1]))
    n = sum(visited)
    spread = st.builds(Spread, mean=st.floats(0.0, 1.0), std=st.floats(0.0, 0.5), prompts=st.integers(1, 9))
    return task(
        visited,
        accepted,
        drafted=n + draw(st.integers(0, 1000)),
        over_prompts=draw(st.none() | spread),
        target_text_overlap=draw(st.none() | st.builds(Estimate.of_counts, st.integers(0, 9), st.just(9))),
    )


@st.composite
def timings(draw: st.DrawFn) -> Timing:
    return Timing.of(draw(st.lists(st.floats(1e-9, 1e6), min_size=1, max_size=6)), keep=draw(st.booleans()))


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Any profile: parts missing, names of every kind."""
    names = st.text(min_size=1, max_size=12).filter(lambda text: text.strip() != "")
    rows = st.lists(timings(), max_size=3).map(
        lambda times: tuple(BatchTiming(batch=2**k, time=time) for k, time in enumerate(times))
    )
    return profile(
        name=draw(names),
        note=draw(st.text(max_size=20)),
        tasks=draw(st.dictionaries(names, tasks(), max_size=3)),
        draft_time=draw(st.none() | timings()),
        server_draft=draw(rows),
        verification=draw(st.none() | st.builds(verification, st.floats(1e-6, 1e3), st.floats(0.0, 10.0))),
        interval_level=draw(st.floats(0.01, 0.99)),
        versions=draw(st.dictionaries(names, st.text(max_size=9), max_size=3)),
    )
