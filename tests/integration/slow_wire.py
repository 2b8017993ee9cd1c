"""A relay that stands for a bad network between namespaces: packets take time, and some never arrive.

    slow_wire.py DELAY-S LOSS PID...

Each PID's network namespace gets a device wire0, on which the relay reads and writes IPv4 packets; the Nth namespace
has the address 10.77.1.N. Prints "ready", and relays until it is killed; the devices go with it.
"""

import ctypes
import fcntl
import heapq
import itertools
import os
import random
import select
import struct
import sys
import time

_TUNSETIFF = 0x400454CA
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000
_CLONE_NEWNET = 0x40000000
_DEVICE = b"wire0"
_PACKET_BYTES = 65_536
_DESTINATION = slice(16, 20)  # of an IPv4 header


def address_of(number):
    """Of the namespace with that number; they count from 1."""
    return f"10.77.1.{number}"


def _device_in(pid):
    with open(f"/proc/{pid}/ns/net") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter the network namespace of process {pid}")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", _DEVICE, _IFF_TUN | _IFF_NO_PI))
    return device


def _relay(devices, delay_s, loss):
    by_address = {bytes(map(int, address_of(i).split("."))): device for i, device in enumerate(devices, start=1)}
    under_way, number = [], itertools.count()
    poller = select.poll()
    for device in devices:
        poller.register(device, select.POLLIN)
    while True:
        wait_ms = max(0.0, under_way[0][0] - time.monotonic()) * 1000 if under_way else None
        for device, _ in poller.poll(wait_ms):
            packet = os.read(device, _PACKET_BYTES)
            to = by_address.get(packet[_DESTINATION])
            if to is not None and random.random() >= loss:
                heapq.heappush(under_way, (time.monotonic() + delay_s, next(number), to, packet))
        while under_way and under_way[0][0] <= time.monotonic():
            _, _, to, packet = heapq.heappop(under_way)
            try:
                os.write(to, packet)
            except OSError:
                pass  # The device is down: lost, as on a wire that nobody holds.


def main(delay_s, loss, *pids):
    devices = [_device_in(pid) for pid in pids]
    print("ready", flush=True)
    _relay(devices, float(delay_s), float(loss))


if __name__ == "__main__":
    main(*sys.argv[1:])
