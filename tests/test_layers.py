"""The import rules of DESIGN.md section 10, read off the source."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("msopt", "formulations", "verification", "reports")
ALLOWED_OUTSIDE = {"msopt": {"numpy", "scipy", "pydantic", "tomli_w"}}
MODEL_ONLY = {"scenario", "acceptance", "radio", "goodput", "control", "errors", "arrays", "budget", "units"}
HEAVY = {"cvxpy": {"formulations"}, "torch": {"verification"}, "matplotlib": {"reports"}}
TYPE_ONLY = {("msopt.solution", "pandas")}


def modules(package: str) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        yield name.removesuffix(".__init__"), ast.parse(path.read_text())


def imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from msopt import multispin` imports the module msopt.multispin.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def of_package(name: str) -> str:
    return name.split(".", maxsplit=1)[0]


@pytest.mark.parametrize("package", [p for p in PACKAGES if (ROOT / p).is_dir()])
def test_packages_point_only_downwards(package: str) -> None:
    below = {"msopt": set(), "formulations": {"msopt"}, "verification": {"msopt"}, "reports": set(PACKAGES)}[package]
    for module, tree in modules(package):
        ours = {of_package(name) for name in imports(tree)} & (set(PACKAGES) | {"tests"})
        assert ours <= below | {package}, f"{module} imports {ours}"


def test_the_core_needs_only_numpy_scipy_and_the_file_libraries() -> None:
    for module, tree in modules("msopt"):
        outside = {of_package(name) for name in imports(tree)} - set(sys.stdlib_module_names) - {"msopt"}
        extra = {name for name in outside - ALLOWED_OUTSIDE["msopt"] if (module, name) not in TYPE_ONLY}
        assert not extra, f"{module} imports {extra}"


@pytest.mark.parametrize("library", HEAVY)
def test_heavy_libraries_stay_in_their_package(library: str) -> None:
    for package in PACKAGES:
        if package not in HEAVY[library]:
            for module, tree in modules(package):
                assert library not in {of_package(name) for name in imports(tree)}, module


def test_formulations_import_the_model_and_no_closed_form() -> None:
    for module, tree in modules("formulations"):
        used = {name.split(".")[1] for name in imports(tree) if name.startswith("msopt.") and len(name.split(".")) > 1}
        assert used <= MODEL_ONLY, f"{module} imports {used - MODEL_ONLY}"


def test_no_circles() -> None:
    graph: dict[str, set[str]] = {}
    for package in PACKAGES:
        for module, tree in modules(package):
            graph[module] = set(imports(tree))
    known = set(graph)
    edges = {
        module: {target for name in names for target in (name, name.rpartition(".")[0]) if target in known - {module}}
        for module, names in graph.items()
    }
    # A package's __init__ is its table of contents: it imports the others, and they never import it.
    edges = {module: targets - set(PACKAGES) for module, targets in edges.items() if module not in PACKAGES}
    done: set[str] = set()
    while free := {module for module in edges if module not in done and edges[module] <= done | (known - set(edges))}:
        done |= free
    assert done == set(edges), f"in a circle: {sorted(set(edges) - done)}"


def test_only_units_converts_decibels() -> None:
    conversion = re.compile(r"10(\.0)? \* (np|math)\.log10|10(\.0)?\s*\*\*\s*\(.*/ 10(\.0)?\)")
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            assert (path.name == "units.py") == bool(conversion.search(path.read_text())), path
