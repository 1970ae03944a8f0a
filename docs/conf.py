"""How the site is built: what it is made of, and how it looks."""

import logging
import os
import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "error")  # an example starts a cluster
logging.getLogger("msopt").setLevel(logging.WARNING)  # the theme's a11y_pygments makes the root logger talk
sys.path[:0] = [str(HERE / "_ext")]

import pictures  # noqa: E402
import repository_text  # noqa: E402

project = "msopt"
author = copyright = "The msopt developers"
release = version = version_of("msopt")

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "mathml",
    "plain_docstrings",
    "single_source",
]
exclude_patterns = ["_build", "gallery/sg_execution_times.rst", "sg_execution_times.rst"]

# What is written once elsewhere becomes pages here; git ignores them.
repository_text.write_mathematics(HERE / "mathematics")
repository_text.copy_examples(HERE / "_build" / "examples")
pictures.draw_all(HERE / "pictures")

# Every reference that a page makes has to lead somewhere; a docstring's `word` is looked up, and need not be a name.
nitpicky = True
nitpick_ignore_regex = [("py:obj", ".*")]
default_role = "py:obj"

myst_enable_extensions = ["dollarmath", "deflist", "attrs_block"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # the docstrings say types, shapes and units
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": str(HERE / "_build" / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "within_subsection_order": "repository_text.gallery_place",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "image_srcset": ["2x"],
    "write_computation_times": False,
    "show_memory": False,
    "min_reported_time": 1e9,
}

html_theme = "furo"
html_title = f"msopt {release}"
html_static_path = ["_static"]
html_css_files = ["msopt.css"]
html_extra_path = ["_build/extra"]
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
suppress_warnings = ["config.cache"]
