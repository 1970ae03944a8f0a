"""The house: who may import whom, by room, read off the source; names that mean one thing (DESIGN.md section 12)."""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("msopt", "formulations", "verification", "reports")
ALLOWED_OUTSIDE = {"msopt": {"numpy", "scipy", "pydantic", "tomli_w"}}
ALONE = {
    ("msopt.measured.prometheus_text", "prometheus_client"),
    ("msopt.shown.letters", "matplotlib"),
    ("msopt.shown.pictures", "matplotlib"),
}
"""What one module reads or draws with, and loads where it is called."""
HEAVY = {"cvxpy": {"formulations"}, "torch": {"verification"}, "matplotlib": {"reports"}}
TYPE_ONLY = {
    (module, "pandas")
    for module in (
        "msopt.solution",
        "msopt.many",
        "msopt.variants.action_table",
        "msopt.sensitivity",
        "msopt.emulation.played_rounds",
        "msopt.measured.profile",
    )
} | {("msopt.many", "xarray")}

GROUND = ("msopt.errors", "msopt.arrays", "msopt.units")
BELOW: dict[str, tuple[str, ...]] = {
    # Each room, and the rooms that it stands on directly; what those stand on it may use, too.
    "msopt.errors": (),
    "msopt.arrays": ("msopt.errors",),
    "msopt.units": ("msopt.arrays",),
    "msopt.numerics": GROUND,
    "msopt.shown": GROUND,
    "msopt.model": ("msopt.numerics", "msopt.shown"),
    "msopt.formulas": ("msopt.model",),
    "msopt.measured": ("msopt.model",),
    "msopt.files": ("msopt.measured",),
    "msopt.drawn": ("msopt.files",),
    "msopt.lengths": ("msopt.formulas",),
    "msopt.modes": ("msopt.lengths",),
    "msopt.variants": ("msopt.lengths",),
    "msopt.evaluation": ("msopt.modes", "msopt.variants"),
    "msopt.sensitivity": ("msopt.evaluation",),
    "msopt.solution": ("msopt.sensitivity",),
    "msopt.cautions": ("msopt.solution",),
    "msopt.rivals": ("msopt.modes",),
    "msopt.options": ("msopt.rivals",),
    "msopt.method": ("msopt.options", "msopt.solution"),
    "msopt.procedures": ("msopt.method",),
    "msopt.methods": ("msopt.procedures",),
    "msopt.solve": ("msopt.methods", "msopt.cautions"),
    "msopt.many": ("msopt.solve",),
    "msopt.choices": ("msopt.solve", "msopt.files"),
    "msopt.uncertain": ("msopt.many",),
    "msopt.emulation": ("msopt.many", "msopt.files"),
    "msopt.serving": ("msopt.rivals", "msopt.measured"),
    "msopt": (
        "msopt.uncertain",
        "msopt.emulation",
        "msopt.sensitivity",
        "msopt.choices",
        "msopt.serving",
        "msopt.drawn",
    ),
    "formulations.core": ("msopt.model",),
    "formulations.terms": ("formulations.core",),
    "formulations.problems": ("formulations.terms",),
    "formulations.registry": ("formulations.problems",),
    "formulations": ("formulations.registry",),
    "verification": ("msopt.files", "msopt.emulation"),
    "reports.shared": ("msopt",),
    "reports.methods": ("reports.shared", "formulations"),
    "reports.crosscheck": ("reports.shared", "reports.methods", "formulations"),
    "reports.plots": ("reports.shared",),
    "reports.studies": ("reports.methods", "reports.crosscheck", "reports.plots"),
    "reports.claims": ("reports.studies",),
    "reports.calibration": ("reports.claims",),
    "reports.page": ("reports.calibration",),
    "reports.cli": ("reports.page", "verification"),
    "reports": ("reports.cli",),
}
EXCEPTIONS = {
    ("msopt.model.scenario", "msopt.files"): "`Scenario.read` and `.write` load the files where they are called",
    ("verification", "msopt"): "the version of the package, which a profile names",
}


def modules(package: str) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        yield name.removesuffix(".__init__"), ast.parse(path.read_text())


TREES = {name: tree for package in PACKAGES for name, tree in modules(package)}


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from msopt import multispin` names no module: it is what the package shows.
            inside = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in TREES else str(node.module) for name in inside)


def of_package(name: str) -> str:
    return name.split(".", maxsplit=1)[0]


def room_of(module: str) -> str:
    """The room that a module stands in: the longest name in the table that it begins with."""
    parts = module.split(".")
    names = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next(name for name in names if name in BELOW)


def closure(room: str) -> set[str]:
    reached = {room}
    for below in BELOW[room]:
        reached |= closure(below)
    return reached


@pytest.mark.parametrize("room", BELOW)
def test_rooms_stand_on_those_below_them(room: str) -> None:
    allowed = closure(room) | set(GROUND)
    for module, tree in TREES.items():
        if room_of(module) != room:
            continue
        used = {room_of(name) for name in imports(tree) if of_package(name) in PACKAGES}
        wrong = {name for name in used - allowed if (module, name) not in EXCEPTIONS and (room, name) not in EXCEPTIONS}
        assert not wrong, f"{module} imports {wrong}"


def test_every_exception_is_needed() -> None:
    for user, used in EXCEPTIONS:
        trees = [tree for module, tree in TREES.items() if module == user or room_of(module) == user]
        assert any(room_of(name) == used for tree in trees for name in imports(tree) if of_package(name) in PACKAGES)


def test_the_exception_of_the_scenario_is_loaded_only_where_it_is_called() -> None:
    body = [node for node in TREES["msopt.model.scenario"].body if not isinstance(node, ast.ClassDef)]
    top = [name for node in body for name in imports(node)]
    assert not [name for name in top if name.startswith("msopt.files")]


def test_the_core_needs_only_numpy_scipy_and_the_file_libraries() -> None:
    for module, tree in TREES.items():
        if of_package(module) == "msopt":
            outside = {of_package(name) for name in imports(tree)} - set(sys.stdlib_module_names) - {"msopt"}
            extra = {name for name in outside - ALLOWED_OUTSIDE["msopt"] if (module, name) not in TYPE_ONLY | ALONE}
            assert not extra, f"{module} imports {extra}"


def test_what_one_module_reads_with_is_loaded_where_it_is_called() -> None:
    for module, library in ALONE:
        # Types are never loaded.
        body = [node for node in TREES[module].body if not isinstance(node, ast.FunctionDef | ast.If)]
        assert library in {of_package(name) for name in imports(TREES[module])}
        assert library not in {of_package(name) for node in body for name in imports(node)}


@pytest.mark.parametrize("library", HEAVY)
def test_heavy_libraries_stay_in_their_package(library: str) -> None:
    for module, tree in TREES.items():
        if of_package(module) not in HEAVY[library] and (module, library) not in ALONE:
            assert library not in {of_package(name) for name in imports(tree)}, module


EXAMPLES_BEYOND = {
    "own_formula": {"formulations"},
    "method_against_baselines": {"reports"},
    "sweep_on_dask": {"reports", "distributed"},
    "papers_figures": {"reports", "pandas"},
}
"""What single examples show beside the package itself."""


def test_examples_use_what_a_user_has() -> None:
    for module, tree in modules("examples"):
        outside = {of_package(name) for name in imports(tree)} - set(sys.stdlib_module_names)
        beyond = EXAMPLES_BEYOND.get(module.removeprefix("examples.plot_"), set())
        assert beyond <= outside <= {"msopt", "numpy", "matplotlib"} | beyond, module


def test_no_circles() -> None:
    known = set(TREES)
    # A package's __init__ is its table of contents: it imports the others, and they never import it.
    contents = {name for name in known if (ROOT / Path(*name.split("."))).is_dir()}
    edges = {
        module: (set(imports(tree)) & known) - {module} - contents
        for module, tree in TREES.items()
        if module not in contents
    }
    for user, used in EXCEPTIONS:
        edges[user] = {name for name in edges[user] if room_of(name) != used} if user in edges else set()
    edges.pop("verification", None)
    done: set[str] = set()
    while free := {module for module in edges if module not in done and edges[module] <= done}:
        done |= free
    assert done == set(edges), f"in a circle: {sorted(set(edges) - done)}"


def test_no_name_means_two_things() -> None:
    files = Counter(name.split(".")[-1] for name in TREES if not (ROOT / Path(*name.split("."))).is_dir())
    assert not [name for name, count in files.items() if count > 1]
    classes: dict[str, set[str]] = defaultdict(set)
    for module, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                classes[node.name].add(module)
    assert not {name: places for name, places in classes.items() if len(places) > 1}


def test_every_folder_says_what_it_holds() -> None:
    for name, tree in TREES.items():
        assert ast.get_docstring(tree), f"{name} does not say what it holds"


def test_only_units_converts_decibels() -> None:
    conversion = re.compile(r"10(\.0)? \* (np|math)\.log10|10(\.0)?\s*\*\*\s*\(.*/ 10(\.0)?\)")
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            assert (path.name == "units.py") == bool(conversion.search(path.read_text())), path
