"""Just enough C++ reading for the structure rules: comments, literals, scopes and function definitions."""

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""//(?:\\\n|[^\n])*                    # line comment
      | /\*.*?\*/                           # block comment
      | \bR"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"   # raw string
      | "(?:\\.|[^"\\\n])*"                 # string
      | (?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'  # character; digit separators have a digit in front
    """,
    re.DOTALL | re.VERBOSE,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
_TYPE_HEADER = re.compile(r"\b(class|struct|union|enum)\b[^()]*$")
_AFTER_PARAMETERS = re.compile(
    r"^\s*(?:(?:const|volatile|noexcept|override|final|mutable|try|&&?)\s*|->[^;{}]*|requires\b[^;{}]*)*$")
_ACCESS = re.compile(r"^\s*(?:(?:public|private|protected)\s*:\s*)+")


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def blank_comments_and_strings(text):
    """The text with comments, strings and characters turned into spaces; offsets and lines stay."""
    return _TOKEN.sub(_blank, text)


def blank_directives(code):
    return _DIRECTIVE.sub(_blank, code)


@dataclass(frozen=True)
class Function:
    name: str
    first_line: int  # of the signature
    last_line: int  # of the closing brace
    body: str

    @property
    def length(self):
        return self.last_line - self.first_line + 1


@dataclass(frozen=True)
class Statement:
    """One declaration at namespace scope, up to its semicolon, initialisers reduced to "{}"."""

    line: int
    text: str


@dataclass
class _Scope:
    kind: str  # namespace, type, function, block or initialiser
    header: str
    header_start: int
    body_start: int


class Outline:
    """Function definitions and namespace-scope statements of one C++ file, found by tracking braces."""

    def __init__(self, code):
        self.functions = []
        self.statements = []
        self._code = blank_directives(code)
        self._scopes = []
        self._header = ""
        self._header_start = 0
        self._parentheses = 0
        for position, character in enumerate(self._code):
            self._step(position, character)

    def _step(self, position, character):
        if character == "{":
            self._open(position)
        elif character == "}":
            self._close(position)
        elif character == ";" and self._parentheses == 0:
            self._end_statement()
        else:
            self._parentheses += {"(": 1, ")": -1}.get(character, 0)
            if not self._header.strip():
                self._header, self._header_start = "", position
            self._header += character

    def _inside(self, kind):
        return any(scope.kind == kind for scope in self._scopes)

    def _open(self, position):
        kind = "block" if self._inside("function") else classify_brace(self._header, self._parentheses)
        self._scopes.append(_Scope(kind, self._header, self._header_start, position + 1))
        if kind != "initialiser":
            self._header = ""
            self._parentheses = 0

    def _close(self, position):
        if not self._scopes:
            return  # unbalanced because of conditional compilation
        scope = self._scopes.pop()
        if scope.kind == "initialiser":
            self._header = scope.header + "{}"
            self._header_start = scope.header_start
            return
        self._header = ""
        self._parentheses = 0
        if scope.kind == "function":
            self._add_function(scope, position)

    def _add_function(self, scope, position):
        header = _ACCESS.sub("", scope.header)
        start = scope.header_start + len(scope.header) - len(header)
        name = re.search(r"(\boperator\s*(?:\(\)|[^\s(]+)|[\w:~]+)\s*\(", header)
        self.functions.append(Function(
            name.group(1) if name else "(unnamed)", self._line(start), self._line(position),
            self._code[scope.body_start:position]))

    def _end_statement(self):
        if all(scope.kind == "namespace" for scope in self._scopes) and self._header.strip():
            self.statements.append(Statement(self._line(self._header_start), " ".join(self._header.split())))
        self._header = ""

    def _line(self, offset):
        return self._code.count("\n", 0, offset) + 1


def classify_brace(header, open_parentheses=0):
    """What a `{` opens, judged by the text between it and the statement before."""
    header = _ACCESS.sub("", header).strip()
    if open_parentheses > 0:
        return "initialiser"  # a default argument, or a value inside a call
    if re.search(r"\bnamespace\b[^()=;]*$", header) or header == "extern":
        return "namespace"
    if not header or header[-1] in "=,([<" or header.endswith("return"):
        return "initialiser"
    if _TYPE_HEADER.search(header):
        return "type"
    return "function" if _is_function_header(header) else "initialiser"


def _is_function_header(header):
    depth = 0
    for position, character in enumerate(header):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character != ")" or depth != 0:
            continue
        rest = header[position + 1:]
        if _AFTER_PARAMETERS.match(rest):
            return True
        if re.match(r"^\s*(?:noexcept\s*)?:(?!:)", rest):  # a constructor: its body follows a finished initialiser
            return header[-1] in ")}"
    return False
