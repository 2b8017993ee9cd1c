"""As much CBOR (RFC 8949) as messages between agents need: integers, byte and text strings, arrays, simple values."""

import struct

_SIMPLE = {False: 20, True: 21, None: 22}


def _head(major, value):
    if value < 24:
        return bytes([major << 5 | value])
    for code, size, form in ((24, 1, ">B"), (25, 2, ">H"), (26, 4, ">I"), (27, 8, ">Q")):
        if value < 1 << 8 * size:
            return bytes([major << 5 | code]) + struct.pack(form, value)
    raise ValueError(f"{value} does not fit 64 bits")


def encode(value):
    if value is None or isinstance(value, bool):
        return _head(7, _SIMPLE[value])
    if isinstance(value, int):
        return _head(0, value) if value >= 0 else _head(1, -1 - value)
    if isinstance(value, bytes):
        return _head(2, len(value)) + value
    if isinstance(value, str):
        text = value.encode()
        return _head(3, len(text)) + text
    return _head(4, len(value)) + b"".join(map(encode, value))


def decode(data):
    value, rest = _decode(data)
    if rest:
        raise ValueError(f"{len(rest)} bytes too many")
    return value


def _decode(data):
    major, size = data[0] >> 5, data[0] & 31
    data = data[1:]
    if size >= 24:
        width = 1 << size - 24
        size, data = int.from_bytes(data[:width], "big"), data[width:]
    if major == 0:
        return size, data
    if major == 1:
        return -1 - size, data
    if major == 2:
        return data[:size], data[size:]
    if major == 3:
        return data[:size].decode(), data[size:]
    if major == 4:
        items = []
        for _ in range(size):
            item, data = _decode(data)
            items.append(item)
        return items, data
    return {code: value for value, code in _SIMPLE.items()}[size], data
