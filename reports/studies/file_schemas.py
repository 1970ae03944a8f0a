"""JSON Schema of every file that people write, by what it holds."""

from collections.abc import Callable

from msopt.files.schemas import Schema, control_schema, scenario_schema, schema_of
from reports.studies.settings import SETTINGS
from reports.studies.study import Study


def study_schema() -> Schema:
    """Of a study file; `fixed` and `axes` name the settings that there are."""
    found = schema_of(Study, "A study of msopt")
    for table in ("fixed", "axes"):
        found["properties"][table]["propertyNames"] = {"enum": list(SETTINGS)}
    return found


SCHEMAS: dict[str, Callable[[], Schema]] = {
    "scenario": scenario_schema,
    "control": control_schema,
    "study": study_schema,
}
