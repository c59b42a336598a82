"""What the bytes of a text file are: one quick pass over all, and a copy where it must be."""

import codecs
import re
import tempfile
from dataclasses import dataclass

import numpy as np

_CHUNK = 1 << 22
_JOINED = re.compile(rb"[0-9]_[0-9]")
_COMMA = re.compile(rb",[0-9]")
_CALLED = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass
class Survey:
    """What a pass over the bytes of a text file tells."""

    encoding: str | None = "utf-8"  # None: not UTF-8, and nothing says what
    n_lines: int = 0
    empty: bool = True
    odd_ends: bool = False  # line ends other than all \\n or all \\r\\n
    nul_line: int | None = None
    underscores: bool = False
    commas: bool = False  # whether digits follow a comma somewhere
    line_ends: frozenset = frozenset()  # the last bytes of all lines
    longest: int = 0  # bytes of a line

    @property
    def needs_copy(self):
        return self.encoding != "utf-8" or self.odd_ends


def survey_of(path):
    survey = Survey()
    decoder = codecs.getincrementaldecoder("utf-8")()
    newlines = returns = pairs = begun = 0
    last, ends = b"", np.zeros(256, bool)
    with open(path, "rb") as file:
        head = file.read(4096)
        survey.encoding = _wide_encoding(head) or "utf-8"
        if survey.encoding != "utf-8":
            return survey
        file.seek(0)
        while chunk := file.read(_CHUNK):
            if survey.nul_line is None and (place := chunk.find(b"\0")) >= 0:
                survey.nul_line = newlines + chunk.count(b"\n", 0, place) + 1
            places = np.flatnonzero(np.frombuffer(chunk, np.uint8) == ord("\n"))
            newlines += len(places)
            ends[_ends_of_lines(chunk, places, last)] = True
            starts = np.concatenate([[-begun], places])
            begun = len(chunk) - starts[-1]
            survey.longest = max(survey.longest, int(np.diff(starts).max(initial=begun)))
            if b"\r" in chunk or last == b"\r":
                returns += chunk.count(b"\r")
                pairs += chunk.count(b"\r\n") + (last == b"\r" and chunk.startswith(b"\n"))
            if b"_" in chunk and not survey.underscores:
                survey.underscores = _JOINED.search(chunk) is not None
            if not survey.commas:
                survey.commas = _COMMA.search(chunk) is not None or (
                    last == b"," and chunk[:1].isdigit()
                )
            survey.empty = survey.empty and not chunk.strip(b" \t\r\n\xef\xbb\xbf")
            if survey.encoding == "utf-8" and not (chunk.isascii() and not decoder.getstate()[0]):
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    survey.encoding = None
            last = chunk[-1:]
    if survey.encoding == "utf-8":
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            survey.encoding = None
    survey.n_lines = newlines + (last not in (b"\n", b""))
    survey.line_ends = frozenset(np.flatnonzero(ends).tolist()) | frozenset(last)
    survey.odd_ends = bool(returns) and not returns == pairs == newlines
    return survey


def _ends_of_lines(chunk, places, before):
    """The last byte of every line of a chunk, given where lines end and the byte before it.

    Of lines that end with a return and a newline, the byte before both, unless they are parted.
    """
    content = np.frombuffer(chunk, np.uint8)
    ends = content[places - 1]
    if len(places) and places[0] == 0:
        ends[0] = ord(before or b"\n")
    returned = (ends == ord("\r")) & (places > 1)
    ends[returned] = content[places[returned] - 2]
    return ends


def unicode_copy(path, folder, survey, error):
    """A copy in UTF-8 with plain line ends, and the notes to tell of it."""
    encoding = survey.encoding or _legacy_encoding(path, error)
    notes = (
        [] if encoding == "utf-8" else [f"read as {_CALLED.get(encoding, encoding.upper())} text"]
    )
    with (
        open(path, encoding="utf-8-sig" if encoding == "utf-8" else encoding) as text,
        tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=folder, suffix=".txt", delete=False
        ) as copy,
    ):
        try:
            while chunk := text.read(_CHUNK):
                copy.write(chunk)
        except UnicodeDecodeError as problem:
            raise error(
                f"not the {encoding.upper()} text that it begins as ({problem.reason})", None
            ) from None
    return copy.name, notes


def as_utf8(head):
    """The first bytes of a text as they would be in UTF-8, where they are of a wider encoding."""
    encoding = _wide_encoding(head)
    return head if encoding is None else head.decode(encoding, errors="ignore").encode()


def _wide_encoding(head):
    """UTF-16 or UTF-32, by the mark at the beginning or by the zeros of plain letters."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    if len(head) >= 4 and b"\0" in head:
        even, odd = head[::2].count(0), head[1::2].count(0)
        half = len(head) // 2
        if odd > 0.9 * half and even < 0.1 * half:
            return "utf-16-le"
        if even > 0.9 * half and odd < 0.1 * half:
            return "utf-16-be"
    return None


def _legacy_encoding(path, error):
    """The encoding of a text that is not UTF-8; one that nearly is, is damaged and refused."""
    valid = invalid = line = 0
    first_bad = None
    with open(path, "rb") as file:
        for raw in file:
            line += 1
            if raw.isascii():
                continue
            text = raw.decode("utf-8", errors="replace")
            bad = text.count("\ufffd")
            valid += sum(c > "\x7f" for c in text) - bad
            invalid += bad
            if bad and first_bad is None:
                first_bad = line
    if valid > invalid:
        raise error("damaged UTF-8 text", first_bad)
    try:
        with open(path, encoding="cp1252", newline="") as file:
            while file.read(_CHUNK):
                pass
        return "cp1252"
    except UnicodeDecodeError:
        return "latin-1"
