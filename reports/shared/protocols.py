"""Whether drafting at the devices pays: a solution beside no drafts at all, and beside drafts at the server."""

import msopt
from msopt import Scenario, Solution
from msopt.model.fields import OF_A_VARIANT
from msopt.model.scenario import Problem
from msopt.shown.object_summary import PROVEN_GAP
from reports.shared.rows import Row
from reports.shared.words import against, number

SERVER_ONLY, CENTRALISED = "server_only_tokens_per_s", "centralised_tokens_per_s"


def with_protocols(solution: Solution) -> Row:
    """`Solution.to_dict` with the goodput of the other two protocols, before the devices."""
    record = solution.to_dict()
    devices = record.pop("devices")
    return record | protocols(solution.scenario, solution.problem) | {"devices": devices}


def protocols(scenario: Scenario, problem: Problem) -> dict[str, float | None]:
    """Goodput without drafts and with drafts at the server [token/s]; None where the server's draft step is unknown."""
    known = scenario.server_draft_s_per_token is not None
    scenario = scenario.replace(**dict.fromkeys(OF_A_VARIANT))  # other protocols know no variant
    return {
        SERVER_ONLY: msopt.solve(scenario, problem, "server-only").goodput,
        CENTRALISED: msopt.solve(scenario, problem, "centralised").goodput if known else None,
    }


def verdict(record: Row) -> str:
    """One sentence: whether drafting at the devices pays, against no drafts and against drafts at the server.

    Parameters
    ----------
    record : dict
        With the keys of `with_protocols`.
    """
    goodput, bound, plain = (record[key] for key in ("goodput_tokens_per_s", "bound_tokens_per_s", SERVER_ONLY))
    if abs(goodput / plain - 1.0) < PROVEN_GAP:
        words = "Drafting gains nothing"
    elif goodput > plain:
        words = "Drafting pays"
    else:
        words = "Drafting does not pay" if bound is not None and bound < plain else "Drafting like this does not pay"
    others = [("without drafts (server-only", plain), ("with drafts at the server (centralised", record[CENTRALISED])]
    told = [
        f"{against(goodput / other - 1.0)} {what}, {number(other, 4)})" for what, other in others if other is not None
    ]
    return f"{words}: {number(goodput, 4)} token/s, {' and '.join(told)}."
