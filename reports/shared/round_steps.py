"""What a device and the server do in a round as played, step by step: what a timeline draws and a terminal shows."""

from typing import NamedTuple

from msopt.emulation.played_rounds import PlayedRounds

DRAFTS, SENDS, WAITS, VERIFIED = "drafts", "sends its draft", "waits", "is verified by the server"
UPLINK, DOWNLINK = "is corrected, uplink", "is corrected, downlink"
MISSED = "its draft is lost or too late"
STEPS = (DRAFTS, SENDS, WAITS, VERIFIED, UPLINK, DOWNLINK, MISSED)
"""In the order of a round; what is not verified at last."""


class Step(NamedTuple):
    """One step, up to some time [s]; it begins where the one before ends, the first with the round."""

    name: str
    end_s: float


def device_steps(played: PlayedRounds, place: int, device: int) -> list[Step]:
    """Of a device in a round; none where it takes no part."""
    if not played.drafts[place, device]:
        return []
    begun = [Step(DRAFTS, played.draft_end_s[place, device]), Step(SENDS, played.upload_end_s[place, device])]
    if not played.arrives[place, device]:
        return [*begun, Step(MISSED, played.start_s[place + 1])]
    answered = (WAITS, UPLINK, DOWNLINK)[played.mode[place, device]]
    corrected = Step(answered, played.corrected_s[place, device])
    return [*begun, *_verification(played, place), corrected, Step(WAITS, played.start_s[place + 1])]


def server_steps(played: PlayedRounds, place: int) -> list[Step]:
    """Of the server in a round."""
    return [*_verification(played, place), Step(WAITS, played.start_s[place + 1])]


def _verification(played: PlayedRounds, place: int) -> tuple[Step, Step]:
    return Step(WAITS, played.verify_start_s[place]), Step(VERIFIED, played.verified_s[place])


def won(played: PlayedRounds, place: int, device: int) -> str:
    """What became of a draft: accepted tokens of those drafted, and what the server added.

    As in "2/3 + 1"; "+ 1" where nothing was drafted, empty where no draft was verified.
    """
    if not played.arrives[place, device]:
        return ""
    drafted, accepted, tokens = (int(of[place, device]) for of in (played.drafted, played.accepted, played.tokens))
    more = f"+ {tokens - accepted}" if tokens > accepted else ""
    return f"{accepted}/{drafted} {more}".rstrip() if drafted else more
