"""Damage to bytes, as disks, editors, transfers and attackers do it."""

import struct

PIECES = [
    *(c.encode() for c in ",;:.\n\t\r\0'\"{}(?-+%@\\ 0179eE_\x1a\x0c"),
    *(b"\xff", b"\xef\xbb\xbf", b"\r\n", b"\n\n", b",,", b" " * 50, "é٣".encode()),
    *(b"1e999", b"-1e999", b"1e400", b"nan", b"inf", b"1_0", b"-0", b"0x10", b"true", b"NA", b"1."),
    *(b"9007199254740993", b"99999999999999999999", b"2147483648:1", b"0:1"),
    *(b"bag", b"label", b"@data", b"@end"),
]
NUMBERS = [
    0,
    1,
    2,
    7,
    8,
    127,
    128,
    255,
    256,
    2**15,
    2**16,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**53,
    2**63,
]


def damaged(content, rng):
    """The content after one to three injuries."""
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        rng.choice(INJURIES)(content, rng)
    return bytes(content)


def _place(content, rng):
    """Anywhere, more often near the ends: headers and footers decide how the rest is read."""
    part = rng.choice([1.0, 1.0, 0.25, 0.1])
    distance = int(rng.random() * part * len(content))
    return distance if rng.random() < 0.5 else max(0, len(content) - 1 - distance)


def _span(content, rng, longest=12):
    start = _place(content, rng)
    return start, min(len(content), start + rng.randint(0, longest))


def delete(content, rng):
    start, stop = _span(content, rng)
    del content[start:stop]


def insert(content, rng):
    start, _ = _span(content, rng)
    piece = rng.choice(PIECES) if rng.random() < 0.8 else rng.randbytes(rng.randint(1, 6))
    content[start:start] = piece


def replace(content, rng):
    start, _ = _span(content, rng)
    piece = rng.choice(PIECES)
    content[start : start + len(piece)] = piece


def repeat(content, rng):
    start, stop = _span(content, rng, 60)
    content[start:start] = content[start:stop]


def truncate(content, rng):
    del content[rng.randint(0, len(content)) :]


def flip(content, rng):
    if content:
        content[_place(content, rng)] ^= 1 << rng.randrange(8)


def overwrite(content, rng):
    if content:
        content[_place(content, rng)] = rng.randrange(256)


def number(content, rng):
    """A size or count becomes another, in any width and byte order."""
    value = rng.choice(NUMBERS)
    widths = [
        f for f in ("<B", "<H", ">H", "<I", ">I", "<Q", ">Q") if value < 256 ** struct.calcsize(f)
    ]
    form = rng.choice(widths)
    piece = struct.pack(form, value)
    start, _ = _span(content, rng)
    content[start : start + len(piece)] = piece


def lines(content, rng):
    """A line is lost, doubled, moved, or joined with the next."""
    rows = bytes(content).split(b"\n")
    k = rng.randrange(len(rows))
    kind = rng.randrange(4)
    if kind == 0:
        del rows[k]
    elif kind == 1:
        rows.insert(rng.randrange(len(rows)), rows[k])
    elif kind == 2:
        rows.insert(rng.randrange(len(rows)), rows.pop(k))
    elif k + 1 < len(rows):
        rows[k : k + 2] = [rows[k] + rows[k + 1]]
    content[:] = b"\n".join(rows)


def line_end(content, rng):
    """The last or first letter of a line is lost, often of the first line."""
    rows = bytes(content).split(b"\n")
    k = 0 if rng.random() < 0.3 else rng.randrange(len(rows))
    rows[k] = rows[k][:-1] if rng.random() < 0.7 else rows[k][1:]
    content[:] = b"\n".join(rows)


INJURIES = [
    *(delete, insert, insert, replace, repeat, truncate, flip, overwrite, number, lines, line_end)
]
