"""Passkeys and their assertions (docs/format.md, 4): ES256 and Ed25519, honest unless told otherwise."""

import base64
import hashlib
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from forge.curve import Key
from forge.encode import Json, digest, seeded

Point = tuple[int, int] | None


class Passkey(Key):
    """A passkey that depends on its label only. `bent` says what is to be wrong with its assertions."""

    def __init__(
        self, label: str, algorithm: str = "ed25519", *, origin: str = "http://demur.localhost:40181", backed: str = ""
    ) -> None:
        super().__init__("passkey " + label)
        self.algorithm, self.origin = algorithm, origin
        self.rp = origin.split("/")[2].split(":")[0]
        self.eligible, self.synced = backed in ("eligible", "synced"), backed == "synced"
        self.secret = int.from_bytes(seeded("p256 " + label), "big") % N
        self.text = f"ed25519:{self.public}" if algorithm == "ed25519" else "es256:" + compressed(self.secret)
        self.fingerprint = digest("key", f"passkey\0{self.text}".encode())
        self.credential = seeded("credential " + label, 4).hex()
        self.wrong: dict[str, Any] = {}

    def bent(self, **wrong: Any) -> "Passkey":
        """Returns the same passkey with other assertions."""
        other = object.__new__(Passkey)
        other.__dict__ = self.__dict__ | {"wrong": self.wrong | wrong}
        return other

    def prove(self, data: bytes) -> Json:
        """Returns the proof of a statement."""
        purpose: str = self.wrong.get("purpose", "passkey")
        return {"webauthn": self.touch([digest(purpose, data)])}

    def touch(self, leaves: list[str]) -> Json:
        """Returns the assertion of one touch for what has these leaves."""
        wrong = self.wrong
        leaves = wrong.get("batch", leaves)
        challenge: bytes = wrong.get("challenge", bytes.fromhex(challenged(leaves)))
        client: Json = {
            "type": "webauthn.get",
            "challenge": base64.urlsafe_b64encode(challenge).decode().rstrip("="),
            "origin": self.origin,
            "crossOrigin": False,
        } | wrong.get("client", {})
        gone = wrong.get("without", [])
        text = json.dumps({name: it for name, it in client.items() if name not in gone}, separators=(",", ":"))
        text = wrong.get("text", lambda text: text)(text)
        flags = 5 | 8 * self.eligible | 16 * self.synced
        authenticator = hashlib.sha256(wrong.get("rp", self.rp).encode()).digest()
        authenticator += bytes([wrong.get("flags", flags)]) + wrong.get("rest", b"\0\0\0\3")
        message = authenticator + hashlib.sha256(text.encode()).digest()
        signature = wrong.get("signature", self.answered)(wrong.get("message", message))
        assertion = {
            "authenticator": authenticator.hex(),
            "client": text,
            "key": self.fingerprint,
            "leaves": leaves,
            "signature": signature,
        }
        return assertion | wrong.get("assertion", {})

    def answered(self, message: bytes) -> str:
        """Returns the signature over a message."""
        return self.sign_bare(message) if self.algorithm == "ed25519" else self.ecdsa(message)

    def ecdsa(self, message: bytes, *, high: bool = False) -> str:
        """Returns r and s of ES256; s is above the middle if it is to be high."""
        k = int.from_bytes(hashlib.sha512(seeded("k") + message + self.raw).digest(), "big") % N
        x, _ = multiple(k, G) or (0, 0)
        s = pow(k, -1, N) * (int.from_bytes(hashlib.sha256(message).digest(), "big") + x % N * self.secret) % N
        s = s if (s > N // 2) == high else N - s
        return f"{x % N:064x}{s:064x}"

    def enrolment(self, person: str) -> dict[str, Json]:
        """Returns the facts with which it comes in."""
        return {
            "aaguid": "00" * 16,
            "credential": self.credential,
            "eligible": self.eligible,
            "key": self.text,
            "origin": self.origin,
            "person": person,
            "rp": self.rp,
            "synced": self.synced,
        }


def challenged(leaves: list[str]) -> str:
    """Returns the challenge of a touch in hex."""
    return leaves[0] if len(leaves) == 1 else digest("node", bytes.fromhex("".join(leaves)))


def multiple(scalar: int, point: Point) -> Point:
    """Returns the multiple of a point of P-256."""
    total: Point = None
    while scalar:
        total = _sum(total, point) if scalar & 1 else total
        point, scalar = _sum(point, point), scalar >> 1
    return total


def compressed(secret: int) -> str:
    """Returns the public point of a secret in hex."""
    x, y = multiple(secret, G) or (0, 0)
    return f"{2 + y % 2:02x}{x:064x}"


def off_curve() -> str:
    """Returns what looks like a compressed point and is none."""
    x = next(x for x in range(1, 100) if pow(x**3 - 3 * x + B, (Q - 1) // 2, Q) == Q - 1)
    return f"es256:02{x:064x}"


def _sum(one: Point, two: Point) -> Point:
    if one is None or two is None:
        return one or two
    (a, b), (c, d) = one, two
    if a == c and (b + d) % Q == 0:
        return None
    slope = (3 * a * a - 3) * pow(2 * b, -1, Q) if one == two else (d - b) * pow(c - a, -1, Q)
    x = (slope * slope - a - c) % Q
    return x, (slope * (a - x) - b) % Q


def agrees_with_vector() -> bool:
    """Returns whether leaf, challenge and signed bytes are those that a browser made for the statement bytes `{}`."""
    mine = Passkey("vector", origin=VECTOR_ORIGIN, backed="synced").touch([digest("passkey", b"{}")])
    message = bytes.fromhex(VECTOR["authenticator"]) + hashlib.sha256(VECTOR["client"].encode()).digest()
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(VECTOR_KEY.split(":")[1]))
    public.verify(bytes.fromhex(VECTOR["signature"]), message)
    return all(mine[name] == VECTOR[name] for name in ("authenticator", "client", "leaves"))


Q = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G: Point = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
VECTOR_KEY = "ed25519:4e8ee133ee92873f1f550bfc8dae33a7bbc0ab365a56ec4e3be238d5ed377273"
VECTOR_ORIGIN = "http://localhost:40181"
VECTOR: dict[str, Json] = {
    "authenticator": "49960de5880e8c687434170f6476605b8fe4aeb9a28632c7995cf3ba831d97631d00000003",
    "client": '{"type":"webauthn.get","challenge":"Zd_lQSOB8LT8aSVwEac-Unh0iEw7K0rZBLCMXjeYRBM",'
    '"origin":"http://localhost:40181","crossOrigin":false}',
    "key": digest("key", f"passkey\0{VECTOR_KEY}".encode()),
    "leaves": [digest("passkey", b"{}")],
    "signature": "189976e76993ab1851e3b06bc23c81299bb048fafd68ac222a1ab66f112dc45f"
    "0c03b56cd290bad6fccb0bf8c3a8710672302c25f622f594b1fcfdf932b56902",
}
