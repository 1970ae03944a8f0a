"""Numbers, names and messages as people read them; the examples in the docstrings of the reports."""

import doctest
import importlib
import pkgutil

import pytest

import reports
from reports.shared.inputs import about, provenance
from reports.shared.words import gain, literal, number, one_line, per_cent, with_prefix


def test_docstring_examples() -> None:
    modules = (importlib.import_module(each.name) for each in pkgutil.walk_packages(reports.__path__, "reports."))
    outcomes = [doctest.testmod(module) for module in modules]
    assert sum(outcome.failed for outcome in outcomes) == 0
    assert sum(outcome.attempted for outcome in outcomes) >= 26


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (200e6, "Hz", "200 MHz"),
        (20e6, "Hz", "20 MHz"),
        (999.0, "bit", "999 bit"),
        (1000.0, "bit", "1 kbit"),
        (1e-3, "s", "1 ms"),
        (2.08e-7, "W", "208 nW"),
        (0.0, "s", "0 s"),
        (-0.5, "s", "-500 ms"),
        (1e-18, "W", "1e-06 pW"),
        (1e20, "Hz", "1e+08 THz"),
    ],
)
def test_prefixes(value: float, unit: str, shown: str) -> None:
    assert with_prefix(value, unit) == shown


def test_what_is_not_there_is_a_dash() -> None:
    assert (number(None), per_cent(None), number(1 / 3, 3)) == ("–", "–", "0.333")


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [(0.809, "80.9 %"), (1.2e-4, "0.012 %"), (9.996e-5, "0.01 %"), (6.234e-5, "0.0062 %"), (-8.05e-6, "-0.0008 %")],
)
def test_a_small_gain_has_two_digits_at_most(ratio: float, shown: str) -> None:
    assert gain(ratio) == shown


def test_control_characters() -> None:
    assert literal("Ünï 漢字 a|b $$") == "Ünï 漢字 a|b $$"
    assert literal("\x1b[2J\r\u202e") == "\\x1b[2J\\r\\u202e"
    assert one_line(" a\n\tb  c ") == "a b c"


def test_head_of_a_file() -> None:
    text = "# name: Two devices. Made up.\n#   more\n#\nkey = 1 # not this\n# nor this\n"
    assert provenance(text) == ["name: Two devices. Made up.", "  more", ""]
    assert about(text, "name") == "Two devices."
    assert about("# In the setting of\n# a paper\n", "name") == "In the setting of a paper"
    assert about("key = 1\n", "name") == ""
