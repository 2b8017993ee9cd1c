"""Dependencies point down: base <- protocol <- core <- {runtime, sim} <- api, cli <- main."""

from source_tree import module_of
from violation import Violation

_BASE = ("base",)
_WIRE = _BASE + ("protocol",)
_MODEL = _WIRE + ("core/model",)
_MARKET = _MODEL + ("core/overlay", "core/pricing")
_NODE = _MARKET + ("core/selling", "core/buying")
_CORE = _NODE + ("core", "core/driver", "core/recording")

# What each library may include besides itself. A name that ends in "/*" stands for a folder and all below it.
MAY_SEE = {
    "base": (),
    "protocol": _BASE,
    "core/model": _WIRE,
    "core/overlay": _MODEL,
    "core/pricing": _MODEL,
    "core/selling": _MARKET,
    "core/buying": _MARKET,
    "core": _NODE,
    "core/driver": _NODE + ("core",),
    "core/recording": _NODE + ("core", "core/driver"),
    "runtime/*": _CORE + ("runtime/*",),
    "sim/*": _CORE + ("sim/*",),
    "api": _CORE + ("runtime/*",),
    "scenario": _CORE + ("sim/*", "api"),
    "cli": _CORE + ("runtime/*", "api"),
    "main": _CORE + ("runtime/*", "sim/*", "api", "scenario", "cli"),
}
_TOP_FOLDERS = {name.split("/")[0] for name in MAY_SEE}


def _covers(pattern, module):
    if pattern.endswith("/*"):
        return module == pattern[:-2] or module.startswith(pattern[:-1])
    return module == pattern


def _allowed_for(module):
    return next((seen for pattern, seen in MAY_SEE.items() if _covers(pattern, module)), None)


def check_layers(files):
    """Every include under src/ stays in its own library or goes to one below."""
    for file in files:
        module = module_of(file.path)
        if not file.is_cpp or module is None:
            continue
        allowed = _allowed_for(module)
        if allowed is None:
            yield Violation("layers", file.path, 1,
                            f"src/{module} has no place in MAY_SEE (tests/structure/layer_rules.py)")
            continue
        for include in file.includes:
            yield from _check_include(file, module, allowed, include)


def _check_include(file, module, allowed, include):
    target = include.name.rpartition("/")[0]
    if include.quoted and (not target or ".." in include.name.split("/")):
        yield Violation("layers", file.path, include.line, f'"{include.name}": write the path from src/')
        return
    if target.split("/")[0] in ("tests", "bench"):
        yield Violation("layers", file.path, include.line,
                        f"{include.name}: what ships does not see tests or benchmarks")
    if target.split("/")[0] not in _TOP_FOLDERS or target == module:
        return
    if not any(_covers(pattern, target) for pattern in allowed):
        yield Violation("layers", file.path, include.line, f"{module} may not include {include.name}")


def check_beast(files):
    """Beast costs 20 s of compiler time a file: one source file holds it."""
    users = [(file, include) for file in files if file.is_cpp for include in file.includes
             if include.name.startswith("boost/beast")]
    holders = sorted({file.path for file, _ in users})
    for file, include in users:
        if file.path.endswith(".h"):
            yield Violation("beast", file.path, include.line, "a header spreads Beast: include it in one .cc only")
        elif file.path != next((path for path in holders if path.endswith(".cc")), None):
            yield Violation("beast", file.path, include.line, f"Beast is already included by {holders[0]}")
