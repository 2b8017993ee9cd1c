"""Network namespaces for a test: hosts on one switch, which can be pulled apart and put together again.

A namespace lives as long as the process that holds it, and its holder dies with the test, however that ends: nothing
has a name, and nothing of the machine's own network is touched. The hosts are joined by veth pairs whose other ends
are ports of one bridge in a namespace of its own. A partition moves ports to a second bridge: who is on the same side
still hears each other, what is on its way to the other side is gone, and nobody is told.
"""

import os
import subprocess
import sys
import time

import processes
import slow_wire

_TOOLS = ("unshare", "nsenter", "ip")
_WITHIN_S = 10
_NOBODY = "02:00:00:00:00:99"


class Unavailable(Exception):
    """This machine, or this user, has no network namespaces: says why."""


def _net_of(pid):
    return os.readlink(f"/proc/{pid}/ns/net")


class Namespace:
    """One network namespace, held by a sleeping process."""

    def __init__(self):
        self._holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True, preexec_fn=processes.die_with_parent)
        end = time.monotonic() + _WITHIN_S
        while self._holder.poll() is None and _net_of(self._holder.pid) == _net_of("self"):
            if time.monotonic() > end:
                self.remove()
                raise Unavailable("no network namespace was made in time")
            time.sleep(0.005)
        if self._holder.poll() is not None:
            raise Unavailable(self._holder.stderr.read().strip())
        self.pid = self._holder.pid
        self.enter = ["nsenter", f"--net=/proc/{self.pid}/ns/net", "--"]
        self.do("ip", "link", "set", "lo", "up")

    def do(self, *command):
        """Runs a command inside."""
        done = subprocess.run([*self.enter, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise Unavailable(f"{' '.join(command)}: {done.stderr.strip()}")

    def remove(self):
        self._holder.kill()
        self._holder.wait()
        self._holder.stderr.close()


class Host(Namespace):
    """A namespace with an address on the switch."""

    def __init__(self, switch, number):
        super().__init__()
        self.address = f"10.77.0.{number + 1}"
        self.port = f"port{number}"
        switch.do("ip", "link", "add", self.port, "type", "veth", "peer", "name", "eth0", "netns", str(self.pid))
        switch.do("ip", "link", "set", self.port, "master", "bridge0", "up")
        self.do("ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        self.do("ip", "link", "set", "eth0", "up")


class Network:
    """`hosts` hosts that hear each other. A context manager; raises Unavailable where there are no namespaces."""

    def __init__(self, hosts):
        self._count = hosts
        self.hosts = []
        self._switch = None
        self._mute = []

    def __enter__(self):
        try:
            self._switch = Namespace()
            for bridge in ("bridge0", "bridge1"):
                self._switch.do("ip", "link", "add", bridge, "type", "bridge")
                self._switch.do("ip", "link", "set", bridge, "up")
            for number in range(self._count):
                self.hosts.append(Host(self._switch, number))
        except (OSError, Unavailable) as error:
            self.__exit__(None, None, None)
            raise Unavailable(f"network namespaces need root, {', '.join(_TOOLS)}: {error}") from error
        return self

    def __exit__(self, *_):
        for namespace in (*self.hosts, self._switch):
            if namespace:
                namespace.remove()
        self.hosts, self._switch = [], None

    def cut_off(self, hosts):
        """From now on these hosts hear each other and nobody else."""
        self._plug(hosts, "bridge1")

    def heal(self):
        self._plug(self.hosts, "bridge0")
        for muted, deaf in self._mute:
            muted.do("ip", "neigh", "del", deaf.address, "dev", "eth0")
        self._mute = []

    def mute(self, host, others):
        """From now on nothing that this host sends to the others arrives; what they send does. It takes them for a
        machine that there is not, so that nobody is told."""
        for other in others:
            host.do("ip", "neigh", "replace", other.address, "lladdr", _NOBODY, "dev", "eth0", "nud", "permanent")
            self._mute.append((host, other))

    def _plug(self, hosts, bridge):
        for host in hosts:
            self._switch.do("ip", "link", "set", host.port, "master", bridge)


class BadNetwork:
    """Namespaces between which packets take `delay_s` each way and are lost with the chance `loss` (slow_wire.py). A
    context manager; raises Unavailable as Network does."""

    def __init__(self, hosts, delay_s, loss):
        self._count = hosts
        self._wire_arguments = [str(delay_s), str(loss)]
        self.hosts = []
        self._wire = None

    def __enter__(self):
        try:
            for number in range(1, self._count + 1):
                self.hosts.append(Namespace())
                self.hosts[-1].address = slow_wire.address_of(number)
            self._start_wire()
            for host in self.hosts:
                host.do("ip", "address", "add", f"{host.address}/24", "dev", "wire0")
                host.do("ip", "link", "set", "wire0", "up")
        except (OSError, Unavailable) as error:
            self.__exit__(None, None, None)
            raise Unavailable(f"network namespaces need root, {', '.join(_TOOLS)} and /dev/net/tun: {error}") from error
        return self

    def __exit__(self, *_):
        if self._wire:
            self._wire.kill()
            self._wire.communicate()
        for host in self.hosts:
            host.remove()
        self.hosts, self._wire = [], None

    def _start_wire(self):
        self._wire = subprocess.Popen([sys.executable, "-B", slow_wire.__file__, *self._wire_arguments,
                                       *(str(host.pid) for host in self.hosts)], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      preexec_fn=processes.die_with_parent)
        if self._wire.stdout.readline() != "ready\n":
            raise Unavailable(self._wire.stderr.read().strip().splitlines()[-1])
