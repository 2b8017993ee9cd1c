"""Gives an agent a wall clock of its own, which a test can step: Debian's faketime, preloaded.

Its monotonic clock stays that of the machine, as it does when somebody sets a real clock.
"""

import glob
import os


class Unavailable(Exception):
    """There is no faketime here."""


class FakeClock:
    """`env` is for the process; `step` may be called before and while it runs."""

    def __init__(self, control_file, ahead_s=0):
        libraries = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        if not libraries:
            raise Unavailable("there is no libfaketime (Debian package faketime)")
        self._file = control_file
        self.env = {"LD_PRELOAD": libraries[0], "FAKETIME_TIMESTAMP_FILE": control_file, "FAKETIME_NO_CACHE": "1",
                    "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1"}
        self.step(ahead_s)

    def step(self, ahead_s):
        """From now on the clock is so far ahead of the machine's; behind, if negative."""
        fresh = self._file + ".new"
        with open(fresh, "w") as file:
            file.write(f"{ahead_s:+d}\n")
        os.replace(fresh, self._file)
