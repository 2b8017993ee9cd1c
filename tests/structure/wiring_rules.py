"""Every folder is built, every test runs, and nothing is wired behind the back of main/."""

import re

from cpp_text import Outline
from source_tree import TEST_FRAMEWORKS, module_of
from violation import Violation

_NO_VARIABLE = re.compile(
    r"^(?:using|typedef|extern|static_assert|friend|template|class|struct|union|enum|namespace|concept|requires|asm"
    r"|__extension__|\[\[)\b|\b(?:const|constexpr)\b|\boperator\b")
_VARIABLE = re.compile(r"^(?:(?:static|inline|constinit|thread_local|volatile)\s+)*[A-Za-z_][\w:]*(?:<.*>)?[\s*&]+"
                       r"[A-Za-z_]\w*(?:\[[^\]]*\])*\s*(?:=.*|\{\})?$")
_VARIABLE_BY_CALL = re.compile(r"^(?:static|thread_local)\s+[\w:<>, ]+[\s*&]+\w+\s*\([^()]*[\d\"'][^()]*\)$")
_TEST_NAMES = ("_test.cc", "_fixture.h", "testing.h")
_LOCAL_STATIC = re.compile(r"\bstatic\s+(?!const\b|constexpr\b|inline const)(?:thread_local\s+)?\w")


def _ships(file):
    return file.is_cpp and not file.is_test and file.path.startswith("src/")


def check_globals(files):
    """No mutable state outside objects: neither at namespace scope nor as a static local."""
    for file in filter(_ships, files):
        outline = Outline(file.code)
        for statement in outline.statements:
            if _is_mutable(statement.text):
                yield Violation("globals", file.path, statement.line, f"`{statement.text}`: hand it over from main/")
        for function in outline.functions:
            if _LOCAL_STATIC.search(function.body):
                yield Violation("globals", file.path, function.first_line,
                                f"{function.name} keeps a mutable static: make it a member of an object")


def _is_mutable(statement):
    if _NO_VARIABLE.search(statement):
        return False
    return bool(_VARIABLE.match(statement) or _VARIABLE_BY_CALL.match(statement))


def check_test_frameworks(files):
    """What ships is not built with test frameworks; headers that use them are fixtures and named so."""
    for file in files:
        name = file.path.rpartition("/")[2]
        if not file.path.startswith("src/") or name.endswith(_TEST_NAMES) or re.match(r"test_\w+\.h$", name):
            continue
        for include in file.includes if file.is_cpp else ():
            if include.name.startswith(TEST_FRAMEWORKS):
                yield Violation("test-frameworks", file.path, include.line,
                                f"{include.name} belongs in *_test.cc, *_fixture.h, test_*.h or testing.h")


def check_singletons(files):
    for file in filter(_ships, files):
        for number, line in enumerate(file.code.splitlines(), start=1):
            if re.search(r"\b(?:instance|get_instance|singleton)\s*\(\s*\)", line, re.IGNORECASE):
                yield Violation("singletons", file.path, number, "no singletons: hand the object over from main/")


def _cmake_of(files):
    return {file.folder: file.text for file in files if file.path.endswith("CMakeLists.txt")}


def check_libraries(files):
    """A folder under src/ with sources is a library (or the program) and is listed in src/CMakeLists.txt."""
    cmake = _cmake_of(files)
    listed = set(re.findall(r"[\w/]+", cmake.get("src", "")))
    first_source = {}
    for file in files:
        if file.path.endswith(".cc") and module_of(file.path):
            first_source.setdefault(file.folder, file.path)
    for folder, path in sorted(first_source.items()):
        if not re.search(r"\b(?:abacus_library|add_executable)\s*\(", cmake.get(folder, "")):
            yield Violation("libraries", path, 1, f"{folder}/CMakeLists.txt must call abacus_library")
        parent, _, name = folder.rpartition("/")
        added_by_parent = f"add_subdirectory({name})" in cmake.get(parent, "")
        if folder[len("src/"):] not in listed and not added_by_parent:
            yield Violation("libraries", path, 1, f"src/CMakeLists.txt does not list {folder[len('src/'):]}")


def check_tests_run(files):
    """A unit test lies in a library's folder; any other test is named or globbed by its folder's CMakeLists.txt."""
    cmake = _cmake_of(files)
    for file in files:
        name = file.path.rpartition("/")[2]
        if not name.endswith(("_test.cc", "_test.py")):
            continue
        build = cmake.get(file.folder, "")
        if file.path.startswith("src/"):
            runs = "abacus_library(" in build and name.endswith(".cc")
        else:
            suffix = name[-len("_test.cc"):]
            runs = name in build or name.rpartition(".")[0] in build or f"*{suffix}" in build
        if not runs:
            yield Violation("tests-run", file.path, 1, f"nothing in {file.folder}/CMakeLists.txt runs this test")
