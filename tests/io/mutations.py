"""Small damage to files, the same for the same random numbers."""

from __future__ import annotations

import re
import struct
from random import Random

NUMBER = re.compile(rb"-?\d+(\.\d+)?")
SEARCHED = 4096
WORDS = [
    *(b"0", b"-1", b"1", b"3", b"255", b"65536", b"2147483648", b"1000000", b"300000000", b"1000000000000"),
    *(b"9223372036854775807", b"18446744073709551616", b"9" * 400, b"1e12", b"1e400", b"nan", b"-inf", b""),
    *(b"0x10", b"1_0", b"1L", b"True", b"()", b"(1,", b"'", b'"', b"#", b",", b"\n", b"\0", b"\xff", b"\xef\xbb\xbf"),
]
VALUES = [0, 1, 2, 3, 127, 128, 255, 256, 32767, 32768, 65535, 10**6, 3 * 10**8, 2**31 - 1, 2**31, 2**32 - 1]
VALUES += [10**12, 2**63 - 1, 2**63, 2**64 - 1]


def mutate(rng: Random, data: bytes, others: list[bytes]) -> bytes:
    """One to four changes; `others` are files of the same suffix to take pieces from."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        if changed:
            rng.choice(CHANGES)(rng, changed, others)
    return bytes(changed)


def _place(rng: Random, data: bytearray) -> int:
    """Anywhere, but more often where the headers and directories are."""
    start, end = rng.choice(((0, len(data)), (0, 64), (0, 512), (len(data) - 256, len(data))))
    return rng.randrange(max(start, 0), max(1, min(end, len(data))))


def _flip(rng: Random, data: bytearray, others: list[bytes]) -> None:
    for _ in range(rng.randint(1, 8)):
        data[_place(rng, data)] ^= 1 << rng.randrange(8)


def _set(rng: Random, data: bytearray, others: list[bytes]) -> None:
    for _ in range(rng.randint(1, 4)):
        data[_place(rng, data)] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))


def _overwrite(rng: Random, data: bytearray, others: list[bytes]) -> None:
    width = rng.choice("BHIQ")
    raw = struct.pack(rng.choice("<>") + width, rng.choice(VALUES) % 256 ** struct.calcsize(width))
    place = _place(rng, data)
    data[place : place + len(raw)] = raw


def _cut(rng: Random, data: bytearray, others: list[bytes]) -> None:
    del data[rng.randrange(len(data)) :]


def _remove(rng: Random, data: bytearray, others: list[bytes]) -> None:
    place = _place(rng, data)
    del data[place : place + rng.choice((1, 2, 4, 8, rng.randint(1, 200)))]


def _repeat(rng: Random, data: bytearray, others: list[bytes]) -> None:
    start, place = _place(rng, data), _place(rng, data)
    data[place:place] = data[start : start + rng.randint(1, 200)] * rng.choice((1, 1, 1, 50))


def _insert(rng: Random, data: bytearray, others: list[bytes]) -> None:
    place = _place(rng, data)
    data[place:place] = rng.choice((rng.randbytes(rng.randint(1, 16)), rng.choice(WORDS)))


def _splice(rng: Random, data: bytearray, others: list[bytes]) -> None:
    other = rng.choice(others)
    start, place = rng.randrange(len(other)), _place(rng, data)
    piece = other[start : start + rng.randint(1, 400)]
    data[place : place + rng.choice((0, len(piece)))] = piece


def _number(rng: Random, data: bytearray, others: list[bytes]) -> None:
    found = list(NUMBER.finditer(bytes(data[:SEARCHED])))
    if found:
        start, end = rng.choice(found[: rng.choice((8, len(found)))]).span()
        data[start:end] = rng.choice(WORDS)


CHANGES = [_flip, _set, _overwrite, _cut, _remove, _repeat, _insert, _splice, _number, _number]
