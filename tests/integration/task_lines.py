"""What tasks say of themselves: each appends a line when it begins and one when it ends to a file of the test."""

import collections
import typing

# One append to the file for each line: whole lines of several tasks never mix.
_SCRIPT = ('line() { echo "$1 $ABACUS_JOB_ID.$ABACUS_TASK_INDEX $ABACUS_NODE $(date +%s.%N)" >> "$LINES"; }; '
           'line begin; sleep SLEEP_S; line end')
SHORT_SLEEP = '$(printf 0.%02d $((ABACUS_TASK_INDEX * 7 % 26 + 5)))'  # 50 to 300 ms


class Line(typing.NamedTuple):
    word: str
    task: str
    node: str
    time_s: float


def command(sleep_s):
    """The command of a task that sleeps so long between its two lines; needs LINES, the file, in its environment."""
    return ["sh", "-c", _SCRIPT.replace("SLEEP_S", str(sleep_s))]


def read(path):
    """All lines so far, in the order of time."""
    try:
        with open(path) as file:
            lines = [line.split() for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return []
    return sorted((Line(word, task, node, float(time_s)) for word, task, node, time_s in lines),
                  key=lambda line: line.time_s)


def by_task(path, word):
    """The lines that begin with `word`, of each task, in the order of time."""
    found = collections.defaultdict(list)
    for line in read(path):
        if line.word == word:
            found[line.task].append(line)
    return found
