"""The table from which `distribution_bits` is picked: ways to send a distribution, and the acceptance with each.

A device that drafts from exactly what it can send loses nothing but acceptance, so a scenario may be given few bits
and the lower acceptance that goes with them, or many and the higher.
"""

from collections.abc import Mapping, Sequence

from msopt.measured.task_acceptance import PayloadRow
from verification.estimates import PromptRun, payload_acceptance
from verification.messages import Payload
from verification.text_pass import MOST_KEPT, TextLaws, replay

KEPT = (16, 64, 256, 1024, MOST_KEPT)
LEVEL_BITS = (8, 12, 16)


def payloads(vocabulary: int) -> list[Payload]:
    """The ways that are tried; those that keep more than there is are left out."""
    return [Payload(kept, bits, vocabulary) for kept in KEPT if kept <= vocabulary for bits in LEVEL_BITS]


def replays(laws: TextLaws, vocabulary: int, length: int) -> list[tuple[float, float]]:
    """Visited and accepted positions along one text: in full, then for each payload at the server and at the device."""
    found = [replay(laws.accepted_share(), length)]
    for payload in payloads(vocabulary):
        found += [replay(laws.accepted_share(payload, at_device=place), length) for place in (False, True)]
    return found


def payload_rows(runs: Mapping[str, Sequence[PromptRun]], vocabulary: int, level: float) -> list[PayloadRow]:
    """One row for each task and payload."""
    return [
        PayloadRow(
            task=task,
            kept_entries=payload.kept,
            probability_bits=payload.level_bits,
            distribution_bits=payload.distribution_bits,
            acceptance=payload_acceptance(own, 1 + 2 * n, level),
            acceptance_at_device=payload_acceptance(own, 2 + 2 * n, level),
        )
        for task, own in runs.items()
        for n, payload in enumerate(payloads(vocabulary))
    ]
