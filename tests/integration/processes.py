"""Finds and ends the processes of one market: whoever names its directory in its arguments or its environment."""

import ctypes
import os
import signal
import time


def die_with_parent():
    """For preexec_fn: the kernel kills this child when the test ends, however it ends."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _read(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _is_alive(pid):
    state = _read(pid, "stat").rpartition(b")")[2].split()
    return bool(state) and state[0] not in (b"Z", b"X")


def marked(mark):
    """Pids and arguments of the living processes, besides this one, that carry `mark`."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        pid = int(name)
        arguments = _read(pid, "cmdline")
        if mark.encode() in arguments + _read(pid, "environ") and _is_alive(pid):
            found[pid] = arguments.replace(b"\0", b" ").decode(errors="replace").strip()
    return found


def wait_until_gone(mark, within_s):
    """What is left of the marked processes after at most `within_s`: nothing, if all is well."""
    end = time.monotonic() + within_s
    while (left := marked(mark)) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
