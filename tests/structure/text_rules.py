"""What must not be left lying in any text: markers of unfinished work, paths of one machine, tests switched off."""

import re

from violation import Violation

# Put together from halves, so that this file does not contain what it forbids.
_MARKERS = re.compile(r"\b(?:" + "|".join(("TO" "DO", "FIX" "ME", "X" "XX", "HA" "CK")) + r")\b")
_MACHINE_PATHS = re.compile(r"(?<![\w.})$*\]])/(?:" + "|".join(("wo" "rk", "ro" "ot")) + r")/")
_SWITCHED_OFF = re.compile("DIS" "ABLED_")

_RULES = (
    ("marker", _MARKERS, "finish it, or file an issue"),
    ("machine-path", _MACHINE_PATHS, "a path of somebody's machine"),
    ("switched-off", _SWITCHED_OFF, "a test that does not run proves nothing: mend or delete it"),
)


def check_text(files):
    for file in files:
        for number, line in enumerate(file.lines, start=1):
            for rule, pattern, why in _RULES:
                match = pattern.search(line)
                if match:
                    yield Violation(rule, file.path, number, f"{match.group(0)}: {why}")
