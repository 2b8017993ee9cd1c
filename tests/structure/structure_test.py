#!/usr/bin/env python3
"""Checks the repository against its structure rules. Usage: structure_test.py ROOT"""

import sys

import rules
import source_tree
from allowed import ALLOWED


def main(root):
    files = source_tree.load(root)
    if not any(file.path == "src/base/result.h" for file in files):
        print(f"{root} is not the root of the repository: it has no src/base/result.h", file=sys.stderr)
        return 2
    violations = rules.violations_in(files, ALLOWED)
    for violation in violations:
        print(violation)
    print(f"{len(files)} files, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
