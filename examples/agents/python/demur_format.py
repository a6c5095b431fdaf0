"""The bytes of demur's format that an agent needs (docs/format.md): canonical JSON, hashes, ids, times, its key.

Needs Python 3.11 and `cryptography` 38 or newer, as Debian 12 has them, and nothing else.
"""

import hashlib
import json
import secrets
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

try:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
except ImportError:
    sys.exit("demur_format.py: needs `cryptography` 38 or newer: apt install python3-cryptography")

Json = Any
LARGEST_NUMBER = 2**53 - 1
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def canonical(value: Json) -> bytes:
    """Returns the RFC 8785 form of what agents write: no floats, whole numbers up to 2^53-1."""
    if value is None or isinstance(value, bool):
        return json.dumps(value).encode()
    if isinstance(value, int) and abs(value) <= LARGEST_NUMBER:
        return str(value).encode()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).encode()  # fails on lone surrogates, as it must
    if isinstance(value, list | tuple):
        return b"[" + b",".join(map(canonical, value)) + b"]"
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return b"{" + b",".join(canonical(name) + b":" + canonical(value[name]) for name in names) + b"}"
    raise ValueError(f"expected a string, a whole number up to 2^53-1, a list or a dict, found {value!r:.50}")


def digest(purpose: str, *parts: bytes) -> str:
    """Returns H(purpose, parts), docs/format.md 1."""
    return hashlib.sha256(f"demur/v1/{purpose}\0".encode() + b"".join(parts)).hexdigest()


def sha256(data: bytes) -> str:
    """Returns the plain hash, which may stand in content only."""
    return hashlib.sha256(data).hexdigest()


def ulid(now: int) -> str:
    """Returns a new ULID: 48 bits of milliseconds since 1970 and 80 random bits."""
    number = now << 80 | secrets.randbits(80)
    return "".join(CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


def timestamp(milliseconds: int) -> str:
    """Returns milliseconds since 1970 as the format writes times."""
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


def milliseconds(text: str) -> int:
    """Returns a time as milliseconds since 1970."""
    moment = datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
    return int(moment.timestamp()) * 1000 + int(text[20:23])


class Key:
    """The key of an agent, from a file that `demur keys new NAME --role ROLE --out FILE` wrote."""

    def __init__(self, path: str | Path) -> None:
        file = json.loads(Path(path).read_bytes())
        self.principal: str = file["principal"]
        self.role: str = file["role"]
        self._secret = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(file["seed"]))
        # Not `public_bytes_raw`: Debian 12 has a `cryptography` without it.
        public = self._secret.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.fingerprint = digest("key", b"ed25519\0", public)

    def sign(self, statement: bytes) -> str:
        """Returns sign(statement, bytes), docs/format.md 1."""
        return self._secret.sign(b"demur/v1/statement\0" + statement).hex()
