"""What is played of an effect, and what a fault is, in a few words of a table."""

from collections.abc import Iterator

from msopt import Fault, LeftOut
from reports.shared.words import counted, literal, number, per_cent

_MOST_NAMES = 3


def size_of(effect: LeftOut) -> str:
    """How much there is of one effect alone.

    >>> size_of(LeftOut(text_tokens=256)), size_of(LeftOut(compute_variation=0.2))
    ('texts of 256 tokens', 'deviation 20 %')
    """
    return "; ".join(_sizes(effect))


def _sizes(effect: LeftOut) -> Iterator[str]:
    if effect.text_tokens is not None:
        yield f"texts of {counted(effect.text_tokens, 'token')}"
    if effect.compute_variation > 0.0:
        yield f"deviation {per_cent(effect.compute_variation)}"
    if effect.delay_s > 0.0:
        yield f"{number(effect.delay_s)} s on average"
    if effect.coherence_rounds is not None:
        yield f"anew every {counted(effect.coherence_rounds, 'round')}"
    for fault in effect.faults.faults:
        yield fault_words(fault)


def fault_words(fault: Fault) -> str:
    """Whom it strikes, when, how often, and how.

    >>> fault_words(Fault(kind="straggler", probability=0.01, factor=5.0))
    '1 % of rounds, 5 times slower'
    >>> fault_words(Fault(kind="dropout", devices=("phone",), first_round=8, end_round=16))
    'phone, rounds 9 to 16'
    """
    return ", ".join(_fault_parts(fault))


def _fault_parts(fault: Fault) -> Iterator[str]:
    names = fault.devices or ()
    if names:
        yield ", ".join(map(literal, names)) if len(names) <= _MOST_NAMES else counted(len(names), "device")
    if fault.end_round is not None:
        yield f"rounds {fault.first_round + 1} to {fault.end_round}"
    elif fault.first_round:
        yield f"from round {fault.first_round + 1}"
    if fault.probability < 1.0:
        yield f"{per_cent(fault.probability)} of rounds"
    if fault.absent_rounds is not None:
        yield f"for {counted(fault.absent_rounds, 'round')}"
    if fault.delay_s is not None:
        yield f"{number(fault.delay_s)} s later"
    if fault.factor is not None:
        yield f"{number(fault.factor)} times slower" if fault.kind == "straggler" else f"down to {number(fault.factor)}"
    if not any((names, fault.end_round, fault.first_round, fault.probability < 1.0)):
        yield "always"
