"""How Sphinx builds the site: ``make docs``. Nothing is fetched, neither now nor by a reader."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from _tools import benchmark_pages, looks, reference  # noqa: E402

import mixedbag  # noqa: E402

reference.write(HERE / "reference")
SHORT_NAMES = reference.short_names()
benchmark_pages.write(HERE / "benchmarks", HERE.parent / "benchmarks" / "results")

project = "mixedbag"
author = "The mixedbag developers"
copyright = "the mixedbag developers, BSD 3-Clause"
version = release = mixedbag.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_tools", "_templates", "**/sg_execution_times.rst"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # functions among the options: they are never compared

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = True

# One file of MathJax, fonts within, out of a package: see `setup`.
mathjax_path = "mathjax/tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}}  # its menu offers what lies elsewhere

default_role = "py:obj"  # `Bags` in a docstring is a link where it can be one
add_module_names = False
python_use_unqualified_type_names = True
autodoc_typehints = "none"  # the docstrings say it in words
# Named, since pages that are new are not yet known to Sphinx when it asks.
autosummary_generate = [f"reference/{page.name}" for page in (HERE / "reference").glob("*.rst")]
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
numpydoc_validation_checks = {
    "GL06",  # a section that no reader expects
    "GL08",  # no docstring
    "PR02",  # a parameter that does not exist
    "PR05",  # a type that ends with a full stop
    "SS01",  # no summary
}
# Methods whose contract is stated once, by scikit-learn or by the base class; plain dictionaries.
numpydoc_validation_exclude = {
    r"\.(get_params|set_params|get_metadata_routing|score|fit_transform|set_output)$",
    r"\.set_\w+_request$",
    r"\.(__\w+__|with_traceback|add_note)$",
    r"\.pooling\.\w+\.\w+$",
    r"\.[A-Z_]+$",
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/[a-z]\w+\.py$",
    "ignore_pattern": r"/_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("mixedbag",),
    "reset_modules": ("matplotlib", looks.for_the_gallery),
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,  # their pages fetch scripts from elsewhere
    "min_reported_time": 1e9,
    "copyfile_regex": "",
}

html_theme = "pydata_sphinx_theme"
html_title = "mixedbag"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_theme_options = {
    "logo": {
        "image_light": "_static/mark.svg",
        "image_dark": "_static/mark.svg",
        "text": "mixedbag",
    },
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_context = {"default_mode": "auto"}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def put_mathjax_in_place(app):
    """One file, of the many of the package: formulas as SVG need no fonts beside it."""
    package = importlib.util.find_spec("sphinx-mathjax-offline").submodule_search_locations[0]
    target = Path(app.outdir) / "_static" / mathjax_path
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(package) / "static" / mathjax_path, target)


def make_the_report():
    """The report of the demo, for the home page; made once and kept until ``make clean``."""
    report = HERE / "_static" / "demo-report.html"
    if report.exists():
        return
    with tempfile.TemporaryDirectory() as folder:
        options = ["--out", "mixedbag-demo", "--time-budget", "2m", "--json"]
        demo = "from mixedbag.cli import main; main()"
        command = [sys.executable, "-c", demo, "demo", *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)
        shutil.copyfile(Path(folder) / "mixedbag-demo" / "report.html", report)


def leave_out_plumbing(app, what, name, obj, skip, options):
    """Methods that are scikit-learn's own, or generated by it, are in its reference."""
    routing = name.startswith("set_") and name.endswith("_request")
    theirs = (getattr(obj, "__module__", None) or "").startswith("sklearn.")
    return True if routing or theirs or name in ("get_metadata_routing", "set_output") else None


def link_names(app, doctree):
    """On pages, `BagMarginSVC` and `margin.BagMarginSVC` lead to the reference."""
    if app.env.docname.partition("/")[0] in ("reference", "gallery"):
        return
    for node in list(doctree.findall(nodes.literal)):
        target = SHORT_NAMES.get(node.astext())
        if target and not isinstance(node.parent, (nodes.reference, addnodes.pending_xref)):
            options = {"refdomain": "py", "reftype": "obj", "reftarget": target}
            link = addnodes.pending_xref("", refexplicit=True, refwarn=True, **options)
            node.replace_self(link)
            link += node


def take_underscores_literally(app, what, name, obj, options, lines):
    """``array of shape (n_iter_,)`` is a type, and no link to a place called ``n_iter``."""
    for k, line in enumerate(lines):
        if re.match(r"\s*[\w, ]+ : ", line):
            start, colon, kind = line.partition(" : ")
            lines[k] = start + colon + re.sub(r"(?<=\w)_(?=[,)\s]|$)", r"\\_", kind)


def setup(app):
    make_the_report()
    app.connect("builder-inited", put_mathjax_in_place)
    app.connect("doctree-read", link_names)
    app.connect("autodoc-skip-member", leave_out_plumbing)
    app.connect("autodoc-process-docstring", take_underscores_literally, priority=100)
