"""Receipts, as the journals of ended agents hold them: the API shows only their sums.

Of the journal's rows (docs/decisions/0004) only kind 6 is read, a ReceiptRecord: [receipt, seller, buyer].
"""

import os
import sqlite3
import typing

_RECEIPT_KIND = 6
_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _ARRAY = 0, 1, 2, 3, 4
_SIMPLE = {0xF4: False, 0xF5: True, 0xF6: None}


class Receipt(typing.NamedTuple):
    lease: str
    job: str
    owed_micro: int
    opened_at_s: float
    closed_at_s: float
    seller: str
    buyer: str


def _decode(data, at):
    """The CBOR item at `at` and where the next one begins; only what journals hold."""
    if data[at] in _SIMPLE:
        return _SIMPLE[data[at]], at + 1
    kind, number = data[at] >> 5, data[at] & 0x1F
    at += 1
    if number >= 24:
        size = 1 << (number - 24)
        number = int.from_bytes(data[at:at + size], "big")
        at += size
    if kind == _UNSIGNED:
        return number, at
    if kind == _NEGATIVE:
        return -1 - number, at
    if kind in (_BYTES, _TEXT):
        return data[at:at + number], at + number
    if kind != _ARRAY:
        raise ValueError(f"an item of major type {kind} in a receipt")
    items = []
    for _ in range(number):
        item, at = _decode(data, at)
        items.append(item)
    return items, at


def _receipt(value):
    (lease, job, _slots, _ended, opened_at, closed_at, _reserved, _staging, _running, _fees, owed), seller, buyer = (
        _decode(value, 0)[0])
    return Receipt(lease.hex(), job.hex(), owed, opened_at / 1e9, closed_at / 1e9, seller.hex(), buyer.hex())


def of(directory):
    """Receipts in the journal of an agent that has ended, by lease."""
    database = sqlite3.connect(os.path.join(directory, "journal.db"))
    try:
        rows = database.execute("SELECT value FROM record WHERE kind = ?", (_RECEIPT_KIND,)).fetchall()
    finally:
        database.close()
    return {receipt.lease: receipt for receipt in (_receipt(value) for value, in rows)}
