"""What was read of a scenario, with units: every quantity once, what is at its default left out."""

from msopt.model.fields import KEYS
from reports.shared.summary import parameters
from tests.cases import s2, scenario_of


def test_every_quantity_is_shown_with_its_unit() -> None:
    scenario = scenario_of(s2()).replace(verify_per_token_s=1e-4, server_draft_s_per_token=0.004)
    numbers = {
        row.field: [2.0, 3.0] if row.table == "devices" else row.kind(2)
        for row in KEYS
        if row.optional and row.unit and row.field not in ("server_draft_s_per_token", "min_draft_length")
    }
    scenario = scenario.replace(**numbers, utility="alpha-fair", padded_batches=True)
    rows = {row.key: row for row in parameters(scenario)}
    assert (rows["variant.utility"].value, rows["variant.padded_batches"].value) == ("alpha-fair", "true")
    assert rows["variant.token_budget"].value == "2 token"
    for key in (key for key in KEYS if key.unit not in ("", "1", "token") and key.field != "verify_per_device_s"):
        shown = rows[
            key.key if key.table == "devices" or (key.key == key.field and key.table != "variant") else key.place
        ]
        assert shown.value.endswith(f" {key.unit}"), shown
    assert rows["server.draft_s_per_token"].reading == "4 ms"
    assert rows["downlink_power_w"].reading.endswith("dBm")
    assert rows["draft_length"].value == "1 to 16 token (problem modes: from 0)"


def test_what_is_at_its_default_is_left_out() -> None:
    scenario = scenario_of(s2()).replace(verify_per_token_s=0.0, server_draft_s_per_token=None, min_draft_length=2)
    rows = {row.key: row for row in parameters(scenario)}
    assert not {"verify_per_token_s", "server.draft_s_per_token"} & set(rows)
    assert rows["draft_length"].value == "2 to 16 token"
