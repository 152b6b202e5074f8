"""The source of healbot as the laws look at it: parsed modules, their imports, their functions."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGE = "healbot"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One file of the package.

    Attributes:
        place: Its path in the package, for instance ``rules/gate.py``.
    """

    place: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def name(self) -> str:
        dotted = self.place.removesuffix(".py").replace("/", ".").removesuffix("__init__")
        return f"{PACKAGE}.{dotted}".rstrip(".")

    @property
    def unit(self) -> str:
        """Its folder, or its own name where it lies at the top."""
        return self.place.split("/")[0].removesuffix(".py")

    @property
    def imports(self) -> Iterator[tuple[str, int]]:
        """Every imported module, wherever in the file, with its line; never relative."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((one.name, node.lineno) for one in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level:
                yield "." * node.level + (node.module or ""), node.lineno
            elif isinstance(node, ast.ImportFrom) and node.module:
                for one in node.names:
                    yield f"{node.module}.{one.name}", node.lineno

    @property
    def functions(self) -> Iterator[tuple[Function, bool]]:
        """Every function, and whether its first parameter is the instance or the class."""
        methods = {
            id(inner)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ClassDef)
            for inner in node.body
            if isinstance(inner, Function) and not _is_static(inner)
        }
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                yield node, id(node) in methods

    @property
    def docstrings(self) -> set[int]:
        """Ids of the nodes that are docstrings or texts standing alone."""
        return {id(one.value) for one in ast.walk(self.tree) if isinstance(one, ast.Expr)}

    def at(self, line: int, text: str) -> str:
        return f"{PACKAGE}/{self.place}:{line}: {text}"


@dataclass(frozen=True)
class House:
    """A source tree."""

    root: Path

    @cached_property
    def modules(self) -> tuple[Module, ...]:
        package = self.root / PACKAGE
        found = sorted(package.rglob("*.py"))
        return tuple(
            Module(path.relative_to(package).as_posix(), path.read_text(encoding="utf-8"))
            for path in found
            if "__pycache__" not in path.parts and path.relative_to(package).parts[0] != "templates"
        )

    @property
    def written(self) -> tuple[Module, ...]:
        """The modules that hold anything."""
        return tuple(module for module in self.modules if module.text.strip())

    @cached_property
    def tracked(self) -> tuple[str, ...]:
        """Paths under version control, and new ones that are not ignored."""
        if not (self.root / ".git").exists():
            files = (path for path in self.root.rglob("*") if path.is_file())
            return tuple(sorted(path.relative_to(self.root).as_posix() for path in files))
        listing = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=self.root, check=True, capture_output=True,
        )  # fmt: skip
        return tuple(path for path in listing.stdout.decode().split("\0") if path)

    def get(self, name: str) -> Module | None:
        """Return the module that an import names: itself, or the one that holds the name."""
        return self._by_name.get(name) or self._by_name.get(name.rpartition(".")[0])

    @cached_property
    def _by_name(self) -> dict[str, Module]:
        return {module.name: module for module in self.modules}

    def targets(self, module: Module) -> set[str]:
        """Return the modules of the package that a module imports."""
        names = (name for name, _ in module.imports if name.startswith(f"{PACKAGE}."))
        found = (self.get(name) for name in names)
        return {one.name for one in found if one is not None and one.name != PACKAGE}


def dotted(node: ast.expr) -> str:
    """Return ``a.b.c`` of a name or an attribute; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


def _is_static(function: Function) -> bool:
    return any(dotted(one) == "staticmethod" for one in function.decorator_list)
