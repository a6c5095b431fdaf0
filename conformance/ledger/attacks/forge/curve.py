"""Ed25519 keys, and the odd points and signatures that no library makes (docs/format.md, 1)."""

import hashlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from forge.encode import digest, prefix, seeded

Point = tuple[int, int]


class Key:
    """A key pair whose seed depends on its label only."""

    def __init__(self, label: str) -> None:
        seed = seeded("key " + label)
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self.raw = self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.public = self.raw.hex()
        self.fingerprint = fingerprint(self.raw)
        expanded = hashlib.sha512(seed).digest()
        self.scalar = int.from_bytes(expanded[:32], "little") & ((1 << 254) - 8) | (1 << 254)

    def __deepcopy__(self, memo: dict[int, object]) -> "Key":
        """Returns itself: nothing changes a key, and some libraries' keys cannot be copied."""
        return self

    def sign(self, purpose: str, data: bytes) -> str:
        """Returns the signature for a purpose in hex."""
        return self.sign_bare(prefix(purpose) + data)

    def prove(self, data: bytes) -> dict[str, dict[str, str]]:
        """Returns the proof of a statement."""
        return {"ed25519": {"key": self.fingerprint, "signature": self.sign("statement", data)}}

    def sign_bare(self, message: bytes) -> str:
        """Returns the signature over a message without our prefix."""
        return self._private.sign(message).hex()

    def sign_oddly(self, purpose: str, data: bytes, torsion: int) -> str:
        """Returns a signature whose R has a small-order component: only the cofactored equation holds."""
        message = prefix(purpose) + data
        secret = int.from_bytes(hashlib.sha512(b"odd" + self.raw + message).digest(), "little") % L
        commitment = encode(add(multiply(secret, BASE), multiply(torsion, ORDER_EIGHT)))
        return self.answer(commitment, secret, message)

    def answer(self, commitment: bytes, secret: int, message: bytes) -> str:
        """Returns the signature with the given bytes of R, whose discrete logarithm is the secret."""
        k = int.from_bytes(hashlib.sha512(commitment + self.raw + message).digest(), "little") % L
        return (commitment + ((secret + k * self.scalar) % L).to_bytes(32, "little")).hex()


class CrookedKey(Key):
    """A key whose public point is chosen freely: of small order, of mixed order or encoded oddly."""

    def __init__(self, label: str, raw: bytes, small: bool) -> None:
        super().__init__(label)
        self.raw = raw
        self.public = raw.hex()
        self.fingerprint = fingerprint(raw)
        if small:
            # A multiple of the small order adds nothing after the cofactor, whatever k is.
            self.scalar = 0

    def sign(self, purpose: str, data: bytes) -> str:
        """Returns a signature that holds under the cofactored equation."""
        message = prefix(purpose) + data
        secret = int.from_bytes(seeded("crooked"), "little") % L
        return self.answer(encode(multiply(secret, BASE)), secret, message)


def fingerprint(raw: bytes) -> str:
    """Returns the fingerprint of a public key."""
    return digest("key", b"ed25519\0" + raw)


def mixed_order(key: Key) -> bytes:
    """Returns the key's public point with a component of order eight added."""
    return encode(add(multiply(key.scalar, BASE), ORDER_EIGHT))


def add(first: Point, second: Point) -> Point:
    """Returns the sum of two points of the curve."""
    (x1, y1), (x2, y2) = first, second
    product = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, P)
    return x % P, y % P


def multiply(scalar: int, point: Point) -> Point:
    """Returns the multiple of a point."""
    result = NEUTRAL
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def encode(point: Point) -> bytes:
    """Returns the canonical 32 bytes of a point."""
    x, y = point
    return (y | ((x & 1) << 255)).to_bytes(32, "little")


def on_curve(y: int) -> Point | None:
    """Returns a point with this y, if the curve has one."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    return (x, y) if x * x % P == square else None


def _order_eight() -> Point:
    # Multiplying by L removes the large part; what stays has an order that divides eight.
    for y in range(2, 200):
        point = on_curve(y)
        if point:
            rest = multiply(L, point)
            if multiply(4, rest) != NEUTRAL:
                return rest
    raise AssertionError("the curve has points of order eight")


P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
NEUTRAL: Point = (0, 1)
_BASE_Y = 4 * pow(5, -1, P) % P
_BASE_X = (on_curve(_BASE_Y) or NEUTRAL)[0]
BASE: Point = (_BASE_X if _BASE_X % 2 == 0 else P - _BASE_X, _BASE_Y)
ORDER_EIGHT = _order_eight()
