"""The tables of the claims: one line for each, and what stands behind it."""

import numpy as np

from reports.claims.judging import Case, Claim, above_0, each, exactly, judge, within
from reports.page.claim_tables import claim_tables
from reports.shared.estimators import Mean
from reports.shared.record import Record
from reports.shared.text_table import Table

FAR = Mean(mean=0.3, low=0.2, high=0.4, draws=10)
CASES = {
    "gains": [above_0("Llama-2", FAR), above_0("Qwen3.5", Mean(mean=0.05, low=-0.05, high=0.15, draws=10))],
    "level": [within("Llama-2", FAR, 0.5, 0.6, unit="times")],
    "twice": [exactly("Llama-2", 2.0, 2.0, 2.0, unit="token"), exactly("Qwen3.5", 2.0, -np.inf, 3.0, unit="token")],
    "each": [each("Llama-2", [True, True, False, True])],
    "units": [exactly("Llama-2", 2.0, 2.0, 2.0, unit="token"), exactly("Qwen3.5", 2.0, 2.0, 2.0, unit="s")],
    "none": [],
}


def _claim(name: str, cases: list[Case]) -> Claim:
    kind = "tacit assumption" if name == "units" else "sentence"
    return Claim(id=name, paper="[MS]", kind=kind, sentence=f"Says {name}.", test="As tested.", cases=lambda _: cases)


def tables() -> dict[str, Table]:
    claims, cases = judge([_claim(*one) for one in CASES.items()], {})
    return claim_tables(Record({}, {"claims": claims, "claims_cases": cases}))


def test_a_claim_is_one_line() -> None:
    """Its verdict first; the number from the least case to the greatest; of how many it holds in how many."""
    assert tables()["claims"].rows == (
        ("not settled", "Says gains.", "5 to 30 %", "1 of 2 cases", "[MS]", "gains"),
        ("did not appear here", "Says level.", "0.3 times", "0 of 1 case", "[MS]", "level"),
        ("held", "Says twice.", "2 token", "2 of 2 cases", "[MS]", "twice"),
        ("held in part", "Says each.", "75 %", "3 of 4 draws", "[MS]", "each"),
        ("not tested", "Says none.", "–", "0 of 0 cases", "[MS]", "none"),
    )
    assert tables()["assumptions"].rows == (("held", "Says units.", "–", "2 of 2 cases", "[MS]", "units"),)


def test_every_case_stands_below_with_where_it_has_to_lie() -> None:
    shown = tables()["claims-cases"]
    assert [column.words for column in shown.columns][:6] == [
        *("claim", "case", "outcome", "number found", "its interval", "where it has to lie"),
    ]
    assert [row[:6] for row in shown.rows] == [
        ("gains", "Llama-2", "holds", "30 %", "20 to 40 %", "above 0"),
        ("gains", "Qwen3.5", "not settled", "5 %", "-5 to 15 %", "above 0"),
        ("level", "Llama-2", "fails", "0.3 times", "0.2 to 0.4 times", "0.5 to 0.6 times"),
        ("twice", "Llama-2", "holds", "2 token", "–", "2 to 2 token"),
        ("twice", "Qwen3.5", "holds", "2 token", "–", "up to 3 token"),
        ("each", "Llama-2", "holds in part", "75 %", shown.rows[5][4], "–"),
        ("units", "Llama-2", "holds", "2 token", "–", "2 to 2 token"),
        ("units", "Qwen3.5", "holds", "2 s", "–", "2 to 2 s"),
    ]


def test_how_each_was_tested_stands_apart() -> None:
    assert tables()["claims-tests"].rows == tuple((name, "As tested.") for name in CASES)
