"""A file is one room, a function one thought: budgets on lines, and a purpose on the first of them."""

import ast
import re

from cpp_text import Outline
from violation import Violation

MAX_FILE_LINES = 800
MAX_FUNCTION_LINES = 70
_CODE_SUFFIXES = (".h", ".cc", ".py", ".sh", ".cmake", ".js", ".css")
_PURPOSE = re.compile(r"^// \S.{8,}")


def _is_code(file):
    return file.path.endswith(_CODE_SUFFIXES) or file.text.startswith("#!") or file.path.endswith("CMakeLists.txt")


def check_file_size(files):
    for file in filter(_is_code, files):
        if len(file.lines) > MAX_FILE_LINES:
            yield Violation("file-size", file.path, MAX_FILE_LINES + 1,
                            f"{len(file.lines)} lines, at most {MAX_FILE_LINES}: split it along its seams")


def check_function_size(files):
    for file in files:
        for name, line, length in _functions(file):
            if length > MAX_FUNCTION_LINES:
                yield Violation("function-size", file.path, line,
                                f"{name} has {length} lines, at most {MAX_FUNCTION_LINES}: split it along its seams")


def _functions(file):
    if file.is_cpp:
        return [(f.name, f.first_line, f.length) for f in Outline(file.code).functions]
    if file.path.endswith(".py"):
        return [(node.name, node.lineno, node.end_lineno - node.lineno + 1) for node in ast.walk(ast.parse(file.text))
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return []


def check_purpose(files):
    """A C++ file says on its first line what it is for; a header is included once."""
    for file in files:
        if not file.is_cpp:
            continue
        if not file.lines or not _PURPOSE.match(file.lines[0]):
            yield Violation("purpose", file.path, 1, "the first line must be a comment that says what the file is for")
        if file.path.endswith(".h") and "#pragma once" not in file.code:
            yield Violation("purpose", file.path, 1, "a header needs #pragma once")
