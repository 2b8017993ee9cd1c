"""Exceptions from the structure rules, each with its reason. An entry that excuses nothing is itself reported."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Allowed:
    rule: str
    path: str
    snippet: str  # part of the line that is excused
    reason: str


ALLOWED = (
    Allowed("io", "src/base/check.cc", "#include <cstdio>", "a failed CHECK must say why before it aborts"),
    Allowed("io", "src/base/check.cc", "std::fprintf(stderr", "a failed CHECK must say why before it aborts"),
    Allowed("io", "src/base/check.cc", "std::fputc(", "a failed CHECK must say why before it aborts"),
    Allowed("float-money", "src/base/money.cc", "cr/h", "prints a price for people; no decision reads it"),
)
