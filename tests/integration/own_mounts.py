"""Small file systems for a test, in a mount namespace of its own: they vanish with the test, however it ends."""

import ctypes
import os
import subprocess

_CLONE_NEWNS = 0x00020000


class Unavailable(Exception):
    """This machine, or this user, may not mount: says why."""


def _run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable(f"mounting needs root: {' '.join(command)}: {done.stderr.strip()}")


def leave_the_others():
    """From now on this process and those that it starts see their own mounts. Call it before threads are started."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNS) != 0:
        raise Unavailable(f"a mount namespace needs root: {os.strerror(ctypes.get_errno())}")
    _run("mount", "--make-rprivate", "/")


class SmallDisk:
    """A file system of `size` bytes at a folder, and a file on it that takes all room. A context manager."""

    def __init__(self, folder, size):
        self.folder = folder
        self._size = size
        self._ballast = os.path.join(folder, "ballast")

    def __enter__(self):
        os.makedirs(self.folder, exist_ok=True)
        _run("mount", "-t", "tmpfs", "-o", f"size={self._size},mode=0700", "tmpfs", self.folder)
        return self

    def __exit__(self, *_):
        _run("umount", "--lazy", self.folder)
        os.rmdir(self.folder)

    def fill(self):
        """Leaves no byte free."""
        block = 1 << 16
        with open(self._ballast, "ab", buffering=0) as file:
            while block:
                try:
                    if file.write(bytes(block)) < block:
                        block //= 2
                except OSError:
                    block //= 2

    def make_room(self):
        os.remove(self._ballast)
