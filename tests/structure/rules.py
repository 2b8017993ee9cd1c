"""All rules, and how exceptions are taken off what they find."""

import layer_rules
import purity_rules
import size_rules
import text_rules
import wiring_rules
from violation import Violation

RULES = (
    layer_rules.check_layers,
    layer_rules.check_beast,
    purity_rules.check_headers,
    purity_rules.check_names,
    purity_rules.check_exceptions,
    purity_rules.check_float_money,
    size_rules.check_file_size,
    size_rules.check_function_size,
    size_rules.check_purpose,
    text_rules.check_text,
    wiring_rules.check_globals,
    wiring_rules.check_test_frameworks,
    wiring_rules.check_singletons,
    wiring_rules.check_libraries,
    wiring_rules.check_tests_run,
)


def violations_in(files, allowed):
    """What the rules find in `files`, less what `allowed` excuses, plus each exception that excuses nothing."""
    by_path = {file.path: file for file in files}
    used = set()
    left = []
    for rule in RULES:
        for violation in rule(files):
            excuse = _excuse(violation, by_path[violation.path], allowed)
            if excuse:
                used.add(excuse)
            else:
                left.append(violation)
    stale = [Violation("allowed", entry.path, 1, f"the exception for `{entry.snippet}` ({entry.rule}) excuses nothing")
             for entry in allowed if entry not in used]
    return sorted(left + stale, key=lambda v: (v.path, v.line, v.rule))


def _excuse(violation, file, allowed):
    line = file.lines[violation.line - 1] if violation.line <= len(file.lines) else ""
    return next((entry for entry in allowed if entry.rule == violation.rule and entry.path == violation.path
                 and entry.snippet in line), None)
