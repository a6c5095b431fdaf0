"""An operator who lies with the whole store at hand: changes one event in the database, or adds one, and then signs everything after it
anew with the keys in the data folder, so that chain, commitments, heads, positions, signatures and what is kept beside the
database hold again. Called with the folder of
`demur_format`, the data folder, a trace and the lie as JSON: {"event": N, "set": {POINTER: VALUE, ...}} changes an event,
{"like": N, "set": {...}} adds one like an earlier one. Pointers begin with /type, /facts or /content."""

import json
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from demur_format import CROCKFORD, Json, Key, canonical, digest, milliseconds, timestamp, ulid  # noqa: E402

data, trace, lie = Path(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
keys = {key.fingerprint: key for key in map(Key, (data / "keys").glob("*.key"))}
desk = next(key for key in keys.values() if key.role == "desk")


def put(document: Json, pointer: str, value: Json) -> None:
    """Puts a value where the pointer says; null takes away what the member of an object was."""
    *path, last = pointer[1:].split("/")
    for name in path:
        document = document[int(name) if isinstance(document, list) else name]
    if isinstance(document, list):
        document[int(last)] = value
    elif value == "-":
        del document[last]
    else:
        document[last] = value


def signed_head(old: bytes, position: Json) -> bytes:
    """Returns a head of the desk in the form of the database, about another event."""
    registry = {"hash": old[17:49].hex(), "sequence": int.from_bytes(old[9:17], "big")}
    document = {
        "epoch": int.from_bytes(old[1:9], "big"), "head": position, "registry": registry, "store": old[49:81].hex(), "trace": trace,
    }
    signature = desk._secret.sign(b"demur/v1/head\0" + canonical(document))
    return old[:81] + bytes.fromhex(desk.fingerprint) + signature


def spelled(number: int) -> str:
    """Returns an id as text."""
    return "".join(CROCKFORD[number >> place & 31] for place in range(125, -1, -5))


def root(leaves: list[str]) -> str:
    """Returns the root of a Merkle tree."""
    if len(leaves) == 1:
        return leaves[0]
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return digest("node", bytes.fromhex(root(leaves[:half])), bytes.fromhex(root(leaves[half:])))


number = 0
for letter in trace:
    number = number * 32 + CROCKFORD.index(letter)
base = sqlite3.connect(data / "ledger.db")
for (name,) in base.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
    base.execute(f"DROP TRIGGER {name}")
base.execute("DELETE FROM snapshots")
(line,) = base.execute("SELECT id FROM traces WHERE trace = ?", (number.to_bytes(16, "big"),)).fetchone()
columns = "ordinal, writer, head, artifact, artifact_salt, content_salt, bytes, content"
rows = base.execute(f"SELECT {columns} FROM events WHERE trace = ? ORDER BY sequence", (line,)).fetchall()
first = lie.get("event", len(rows))
if first == len(rows):
    rows.append((None, *rows[-1][1:3], *rows[lie["like"]][3:]))

moved: dict[str, str] = {}  # hashes that events had, and have now
position: Json = None
for place, (ordinal, writer, head, artifact, artifact_salt, salt, text, words) in enumerate(rows):
    if place < first:
        position = {"hash": digest("envelope", text), "sequence": place}
        continue
    was = digest("envelope", text)
    envelope, content = json.loads(text), json.loads(words) if words else None
    side = "statement" if envelope["statement"] else "record"
    said = envelope[side]
    if place == first:
        for pointer, value in lie["set"].items():
            put({"type": None, "content": content, "facts": said["facts"]} if pointer != "/type" else said, pointer, value)
    if ordinal is None:
        before = json.loads(rows[place - 1][6])
        envelope |= {"sequence": place, "time": before["time"], "registry": before["registry"]}
        if side == "statement":
            now = milliseconds(before["time"])
            said |= {"command": ulid(now), "not_after": timestamp(now + 300_000), "seen": position}
    for old, new in moved.items():
        envelope = json.loads(json.dumps(envelope).replace(old, new))
    said = envelope[side]
    envelope["previous"] = position and position["hash"]
    if content is not None:
        words = canonical(content)
        envelope["content"] = digest("content", salt, words)
    if side == "statement":
        said["content"] = envelope["content"]
        proof = envelope["proof"]["ed25519"]
        proof["signature"] = keys[proof["key"]].sign(canonical(said))
    text = canonical(envelope)
    position = {"hash": digest("envelope", text), "sequence": place}
    moved[was] = position["hash"]
    head = head and signed_head(head, position)
    beside = (writer, head, artifact, artifact_salt, salt, text, words)
    values = (line, place, bytes.fromhex(position["hash"]), milliseconds(envelope["time"]), *beside)
    names = "trace, sequence, hash, time, writer, head, artifact, artifact_salt, content_salt, bytes, content"
    if ordinal is None:
        base.execute(f"INSERT INTO events ({names}) VALUES ({', '.join('?' * 11)})", values)
    else:
        sets = ", ".join(f"{name.strip()} = ?" for name in names.split(","))
        base.execute(f"UPDATE events SET {sets} WHERE ordinal = ?", (*values, ordinal))
base.commit()

# What is kept beside the database is about the new history.
kept = json.loads((data / "store-root.json").read_text())
newest = "SELECT max(sequence) FROM events WHERE trace = t.id"
heads = f"SELECT t.trace, e.sequence, e.hash FROM traces t JOIN events e ON e.trace = t.id AND e.sequence = ({newest}) ORDER BY t.trace"
leaves = [
    digest("leaf", canonical({"head": head.hex(), "length": last + 1, "trace": spelled(int.from_bytes(name, "big"))}))
    for name, last, head in base.execute(heads)
]
(moment,) = base.execute("SELECT max(ordinal) FROM events").fetchone()
kept["document"] |= {"moment": f"{moment:x}", "root": root(leaves), "traces": len(leaves)}
signature = desk._secret.sign(b"demur/v1/checkpoint\0" + canonical(kept["document"]))
kept["proof"] = {"key": desk.fingerprint, "signature": signature.hex()}
(data / "store-root.json").write_bytes(canonical(kept) + b"\n")
