"""JSON Schema of every file that people write, by what it holds."""

from collections.abc import Callable

from msopt.emulation.faults import FaultPlan
from msopt.files.schemas import Schema, control_schema, scenario_schema, schema_of
from reports.calibration.targets_file import Calibration, names_of_unknowns
from reports.studies.quoted import QUOTED
from reports.studies.settings import SETTINGS
from reports.studies.study import Study


def study_schema() -> Schema:
    """Of a study file; `fixed` and `axes` name the settings that there are."""
    found = schema_of(Study, "A study of msopt")
    for table in ("fixed", "axes"):
        found["properties"][table]["propertyNames"] = {"enum": list(SETTINGS)}
    return found


def calibration_schema() -> Schema:
    """Of a file of quoted numbers; names of settings, methods and numbers are those that there are."""
    found = schema_of(Calibration, "A calibration of msopt")
    found["properties"]["unknowns"]["propertyNames"] = {"enum": names_of_unknowns()}
    found["properties"]["quoted"]["items"] = {"enum": [record.id for record in QUOTED]}
    tables = found["$defs"]
    for table, key in (("StatedBase", "fixed"), ("TargetNumber", "at"), ("TargetNumber", "along")):
        tables[table]["properties"][key]["propertyNames"] = {"enum": list(SETTINGS)}
    return found


def faults_schema() -> Schema:
    """Of a plan of faults, which has no key but its own, and at least one fault."""
    found = schema_of(FaultPlan, "Faults of a play of msopt")
    fault = found["$defs"]["Fault"]
    for table in (found, fault):
        table["additionalProperties"] = False
    found["required"] = ["faults"]
    found["properties"]["faults"]["minItems"] = 1
    found["properties"]["deadline_factor"]["minimum"] = 1
    fault["properties"]["probability"] |= {"minimum": 0, "maximum": 1}
    for key in ("delay_s", "factor", "first_round"):
        fault["properties"][key]["minimum"] = 0
    return found


SCHEMAS: dict[str, Callable[[], Schema]] = {
    "scenario": scenario_schema,
    "control": control_schema,
    "study": study_schema,
    "calibration": calibration_schema,
    "faults": faults_schema,
}
