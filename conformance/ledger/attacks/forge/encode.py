"""Bytes of the format: canonical JSON, purposes, hashes, commitments, names and times (docs/format.md, 1 and 2)."""

import hashlib
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

Json = Any


def canonical(value: Json) -> bytes:
    """Returns the RFC 8785 form of a value."""
    return _text(value).encode("utf-8")


def digest(purpose: str, data: bytes) -> str:
    """Returns H(purpose, data) in hex."""
    return hashlib.sha256(prefix(purpose) + data).hexdigest()


def prefix(purpose: str) -> bytes:
    """Returns the bytes that everything signed or hashed for a purpose begins with."""
    return b"demur/v1/" + purpose.encode("ascii") + b"\0"


def commitment(purpose: str, salt: bytes, data: bytes) -> str:
    """Returns the salted commitment to content or to an artifact."""
    return digest(purpose, salt + data)


def seeded(label: str, length: int = 32) -> bytes:
    """Returns bytes that look random and depend on the label only."""
    stream = b""
    while len(stream) < length:
        stream += hashlib.sha256(f"demur attack corpus\0{label}\0{len(stream)}".encode()).digest()
    return stream[:length]


def ulid(label: str) -> str:
    """Returns a ULID with the corpus' fixed time and a random part that depends on the label."""
    number = (int(EPOCH.timestamp() * 1000) << 80) | int.from_bytes(seeded("ulid " + label, 10), "big")
    return "".join(CROCKFORD[(number >> shift) & 31] for shift in range(125, -5, -5))


def moment(milliseconds: int) -> str:
    """Returns the time that many milliseconds after the start of the corpus' clock."""
    at = EPOCH + timedelta(milliseconds=milliseconds)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def tree_head(leaves: list[bytes]) -> str:
    """Returns the RFC 6962 tree head over the inputs of the leaves."""
    if len(leaves) == 1:
        return digest("leaf", leaves[0])
    split = _split(len(leaves))
    return _node(tree_head(leaves[:split]), tree_head(leaves[split:]))


def tree_path(index: int, leaves: list[bytes]) -> list[str]:
    """Returns the hashes beside the way from a leaf to the tree head, lowest first."""
    if len(leaves) == 1:
        return []
    split = _split(len(leaves))
    if index < split:
        return [*tree_path(index, leaves[:split]), tree_head(leaves[split:])]
    return [*tree_path(index - split, leaves[split:]), tree_head(leaves[:split])]


def _node(left: str, right: str) -> str:
    return digest("node", bytes.fromhex(left) + bytes.fromhex(right))


def _split(count: int) -> int:
    # The largest power of two below the count.
    return 1 << ((count - 1).bit_length() - 1)


def _text(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str):
        return '"' + "".join(_escaped(character) for character in value) + '"'
    if isinstance(value, list):
        return "[" + ",".join(_text(item) for item in value) + "]"
    members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
    return "{" + ",".join(_text(name) + ":" + _text(member) for name, member in members) + "}"


def _escaped(character: str) -> str:
    if character in SHORT_ESCAPES:
        return SHORT_ESCAPES[character]
    return f"\\u{ord(character):04x}" if character < " " else character


def _number(value: float) -> str:
    """Python's shortest digits, laid out by the rule of ECMAScript (Number::toString)."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int), "the reader refuses infinities"
    text = "".join(map(str, digits))
    point = len(text) + exponent
    if len(text) <= point <= 21:
        text += "0" * (point - len(text))
    elif 0 < point <= 21:
        text = f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        text = "0." + "0" * -point + text
    else:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        text = f"{text[0]}{fraction}e{point - 1:+d}"
    return "-" + text if sign else text


CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
EPOCH = datetime(2026, 11, 15, tzinfo=UTC)
SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
