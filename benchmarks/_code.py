"""Which code a benchmark runs: a hash that changes when the figures might.

In a benchmark's own files only the definitions count that `run` reaches by name, so that a note or
a table may be reworded; of the library, every module that they import, and what these import.
Comments, docstrings and layout do not count.
"""

import ast
import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = {"benchmarks": ROOT / "benchmarks", "mixedbag": ROOT / "src" / "mixedbag"}
STANDS_ON = ("numpy", "scipy", "scikit-learn", "numba", "highspy")


def versions():
    return {"python": platform.python_version()} | {name: version(name) for name in STANDS_ON}


def fingerprint(module, name="run", folders=FOLDERS):
    """A hash of all code that ``module.name`` reaches."""
    reached = _Reached(folders)
    reached.definition(module, name)
    text = "\n".join(f"{place}\n{code}" for place, code in sorted(reached.code.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class _Reached:
    """Walks definitions and modules, each once."""

    def __init__(self, folders):
        self.folders, self.code, self.paths = folders, {}, {}

    def definition(self, module, name):
        """A top-level name of a benchmark's file, and the names that it uses."""
        place = f"{module}:{name}"
        statements = [s for s in _statements(self._path(module)) if name in _defines(s)]
        if place in self.code or not statements:
            return
        self.code[place] = "\n".join(map(_normal, statements))
        for statement in statements:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                self._imported(statement, name)
            else:
                for used in {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}:
                    self.definition(module, used)
                for inner in _imports(statement):
                    self._imported(inner)

    def module(self, module):
        """A whole module and all that it imports."""
        path = self._path(module)
        if module in self.code or path is None:
            return
        tree = _statements(path)
        self.code[module] = "\n".join(map(_normal, tree))
        if "." in module:
            self.module(module.rpartition(".")[0])
        for statement in tree:
            for node in _imports(statement):
                self._imported(node, package=module)
        # Modules that are found by listing a package, or by a name in a table, are in no import.
        if "pkgutil" in self.code[module]:
            self._folder(module.partition(".")[0])
        elif "import_module" in self.code[module] and "." in module:
            self._folder(module)

    def _folder(self, package):
        """All modules of a package."""
        folder = self._path(package).parent
        for file in sorted(folder.rglob("*.py")):
            parts = file.relative_to(folder).with_suffix("").parts
            self.module(".".join((package, *parts)).removesuffix(".__init__"))

    def _imported(self, node, name=None, package=None):
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.module(alias.name)
            return
        source = node.module or ""
        if node.level and package:  # from . import x
            parts = package.split(".")
            is_package = self._path(package).name == "__init__.py"
            kept = parts[: len(parts) - node.level + is_package]
            source = ".".join([*kept, *filter(None, [node.module])])
        for alias in node.names:
            if name in (None, alias.asname or alias.name):
                inner = f"{source}.{alias.name}"
                if self._path(inner):
                    self.module(inner)
                elif source.startswith("benchmarks"):
                    self.definition(source, alias.name)
                else:
                    self.module(source)

    def _path(self, module):
        if module not in self.paths:
            self.paths[module] = self._found(module)
        return self.paths[module]

    def _found(self, module):
        package, *parts = module.split(".")
        if package not in self.folders:
            return None
        path = self.folders[package].joinpath(*parts)
        candidates = (path / "__init__.py", path.with_suffix(".py"))
        return next((file for file in candidates if file.is_file()), None)


@cache
def _parsed(path, stamp):
    return ast.parse(path.read_text(encoding="utf-8")).body


def _statements(path):
    return _parsed(path, path.stat().st_mtime_ns) if path else []


def _defines(statement):
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}


@cache
def _imports(statement):
    """What a statement imports, wherever in it."""
    return [n for n in ast.walk(statement) if isinstance(n, ast.Import | ast.ImportFrom)]


@cache
def _normal(statement):
    """The statement as Python sees it, without docstrings."""
    tree = ast.parse(ast.unparse(statement))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            body[0] = ast.Pass()
    return ast.dump(tree)


def _is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
