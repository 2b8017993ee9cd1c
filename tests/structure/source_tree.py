"""The files that the structure rules look at, and what every rule needs to know about one of them."""

import functools
import os
import re
import subprocess
from dataclasses import dataclass

from cpp_text import blank_comments_and_strings

CPP_SUFFIXES = (".h", ".cc")
TEXT_SUFFIXES = CPP_SUFFIXES + (".py", ".sh", ".txt", ".cmake", ".json", ".yaml", ".yml", ".md", ".js", ".html", ".css")
TEST_FRAMEWORKS = ("gtest/", "gmock/", "rapidcheck")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)


@dataclass(frozen=True)
class Include:
    line: int
    name: str
    quoted: bool


@dataclass(frozen=True)
class SourceFile:
    """A file of the repository: `path` is relative to its root, with forward slashes."""

    path: str
    text: str

    @property
    def folder(self):
        return os.path.dirname(self.path)

    @property
    def is_cpp(self):
        return self.path.endswith(CPP_SUFFIXES)

    @property
    def is_test(self):
        """A test, or a header that only tests can use (a fixture)."""
        if self.path.endswith(("_test.cc", "_test.py")) or self.path.startswith("tests/"):
            return True
        return self.path.endswith(".h") and any(include.name.startswith(TEST_FRAMEWORKS) for include in self.includes)

    @functools.cached_property
    def lines(self):
        return self.text.splitlines()

    @functools.cached_property
    def code(self):
        """C++ text with comments and literals blanked out, character for character."""
        return blank_comments_and_strings(self.text)

    @functools.cached_property
    def includes(self):
        # Names of headers are literals, so they are read from the text, on lines where the code has the directive.
        code_lines = self.code.splitlines()
        found = []
        for match in INCLUDE.finditer(self.text):
            line = line_of(self.text, match.start(1))
            if "#" in code_lines[line - 1]:
                found.append(Include(line, match.group(2), match.group(1) == '"'))
        return found


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def module_of(path):
    """The library a file under src/ belongs to ("core/buying"), or None."""
    return os.path.dirname(path)[len("src/"):] if path.startswith("src/") and path.count("/") > 1 else None


def list_paths(root):
    """Tracked and untracked files that git does not ignore; without git, all files outside build/."""
    try:
        command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        output = subprocess.run(command, check=True, capture_output=True).stdout.decode()
        return sorted(path for path in set(output.split("\0")) if path)
    except (OSError, subprocess.CalledProcessError):
        return sorted(_walk(root))


def _walk(root):
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if name not in ("build", ".git", "node_modules")]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def load(root):
    """Every text file of the repository. Files that vanish while we look are left out."""
    files = []
    for path in list_paths(root):
        full = os.path.join(root, path)
        if os.path.islink(full) or not (path.endswith(TEXT_SUFFIXES) or _is_script(full)):
            continue
        try:
            with open(full, encoding="utf-8") as stream:
                files.append(SourceFile(path, stream.read()))
        except FileNotFoundError:
            continue
    return files


def _is_script(full):
    try:
        with open(full, "rb") as stream:
            return stream.read(2) == b"#!"
    except OSError:
        return False
