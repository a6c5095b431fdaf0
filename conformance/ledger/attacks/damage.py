"""Shows that the second verifier survives what it reads: every file of the corpus, and damaged copies of honest ones.

Some copies are damaged as bytes. In the others somebody who holds every key says something else, and all that
follows is hashed, chained and signed again, so that the damage is met by the checks that stand behind those. What
becomes of a copy is decided elsewhere; here it must be a verdict with its exit status, never a traceback.
The assertion that a browser made must hold, and no other one in its place.
"""

import argparse
import contextlib
import copy
import functools
import importlib.util
import io
import json
import random
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from forge import amendments, clients, confirmations, curve, dialogues, erasures, evidence, papers, passkeys, touch, valid
from forge.case import Corpus, Family, File
from forge.encode import Json, canonical, commitment, ulid
from forge.export import Export
from forge.writer import Entry

ROOT = Path(__file__).resolve().parent
FAMILIES = [valid, dialogues, evidence, papers, clients, confirmations, erasures, amendments, passkeys]
VERDICTS = {"pass": 0, "not_established": 1, "fail": 1}
# Values that a careless reader trips over, in the place of any other.
ODD: list[Json] = [None, True, 0, -1, 1.5, 2**53 - 1, "", "0", [], {}, [[]], [0], {"sequence": 0}, "plan", "x" * 300]


def main() -> int:
    """Returns the exit code: 0, or 1 if the verifier crashed, with the first places where it did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, default=400, help="how many damaged copies")
    parser.add_argument("--seed", type=int, default=20, help="which ones")
    parser.add_argument("--verifier", type=Path, default=ROOT.parent / "verify.py", help="the verifier")
    arguments = parser.parse_args()
    keys = keys_that_are_made()
    honest = exports()
    verifier = second_verifier(arguments.verifier)
    files = sorted((ROOT / "files").glob("*.jsonl"))
    verdicts = list[str]()
    crashes = [] if takes_vector(verifier) else ["the assertion that a browser made does not hold, or a forged one does"]
    chosen = random.Random(arguments.seed)
    read = ((path.name, path.read_bytes()) for path in files)
    for name, data in [*read, *copies(chosen, arguments.copies, files, honest, keys)]:
        said = told(verifier, data)
        (verdicts if said in VERDICTS else crashes).append(said if said in VERDICTS else f"{name}: {said}")
    counts = ", ".join(f"{verdicts.count(each)} {each}" for each in VERDICTS)
    print(f"{len(files)} files, {arguments.copies} damaged copies, {len(crashes)} crashes; {counts}")
    print("\n".join(crashes[:5]), file=sys.stderr)
    return 1 if crashes else 0


def keys_that_are_made() -> list[curve.Key]:
    """Returns where every key is kept that is made from now on."""
    keys, made = list[curve.Key](), curve.Key.__init__

    def note(self: curve.Key, label: str) -> None:
        made(self, label)
        keys.append(self)

    curve.Key.__init__ = note  # type: ignore[method-assign]
    return keys


class Honest(Corpus):
    """Keeps the honest exports of the families, and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.exports: list[Export] = []

    def family(self, name: str) -> Family:
        """Returns a collector that hands over what holds."""
        exports = self.exports

        class Keeper(Family):
            def _add(self, name: str, about: str, file: File, verdict: str, *rest: Json, **others: Json) -> None:
                if isinstance(file, Export) and verdict.startswith("pass") and file.run:
                    exports.append(file.copy())

        return Keeper(self, name)


def exports() -> list[Export]:
    """Returns the honest exports of runs, plans and dialogues."""
    corpus = Honest()
    for family in FAMILIES:
        family.add(corpus)
    return corpus.exports


def second_verifier(path: Path) -> ModuleType:
    """Returns the second verifier; what it works out about a point of the curve it keeps, for there are few keys."""
    spec = importlib.util.spec_from_file_location("verify", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.times = functools.cache(module.times)  # type: ignore[attr-defined]
    return module


def told(verifier: ModuleType, data: bytes) -> str:
    """Returns the verdict on a file, or where the verifier crashed or said something else than it may."""
    sys.argv, sys.stdin, out = ["verify.py", "--json", "-"], io.TextIOWrapper(io.BytesIO(data)), io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            status = verifier.main()
        said = json.loads(out.getvalue())
    except BaseException:
        return traceback.format_exc(limit=-3)
    expected = 2 if said["line"] == 1 and said["verdict"] == "fail" else VERDICTS.get(said["verdict"])
    return str(said["verdict"]) if status == expected else f"exit status {status} with {said}"


def takes_vector(verifier: ModuleType) -> bool:
    """Returns whether the verifier takes the vector of an assertion, and no other signature and flags."""
    enrolled = {"key": touch.VECTOR_KEY, "origin": touch.VECTOR_ORIGIN, "rp": "localhost", "eligible": True}
    leaf = touch.VECTOR["leaves"][0]
    forged = touch.VECTOR | {"signature": "0" * 128}
    faults = [verifier.touch_fault(each, enrolled, leaf, True) for each in (touch.VECTOR, forged)]
    flagged = verifier.touch_fault(touch.VECTOR, enrolled | {"eligible": False}, leaf, True)
    return [*faults, flagged] == ["", "SIG_INVALID", "PASSKEY_INVALID"]


def copies(
    chosen: random.Random, count: int, files: list[Path], honest: list[Export], keys: list[curve.Key]
) -> Iterator[tuple[str, bytes]]:
    """Yields damaged copies, every fourth of them damaged as bytes."""
    for number in range(count):
        if number % 4 == 0:
            path = chosen.choice(files)
            yield f"copy {number} of {path.name}", damaged_bytes(chosen, path.read_bytes())
        else:
            yield f"copy {number}", said_otherwise(chosen, chosen.choice(honest), keys)


def damaged_bytes(chosen: random.Random, data: bytes) -> bytes:
    """Returns the bytes with one of them changed, cut, or with a line gone, doubled or moved."""
    at, lines = chosen.randrange(len(data) or 1), data.splitlines(keepends=True) or [b""]
    one, two = chosen.randrange(len(lines)), chosen.randrange(len(lines))
    swapped = list(lines)
    swapped[one], swapped[two] = lines[two], lines[one]
    return chosen.choice(
        [
            data[:at] + bytes([chosen.randrange(256)]) + data[at + 1 :],
            data[:at],
            data[:at] + chosen.choice([b"{", b'"', b"9", b"\n", b"\0", b"[" * 2000]) + data[at:],
            b"".join(lines[:one] + lines[one + 1 :]),
            b"".join(lines[:one] + lines[one : one + 1] + lines[one:]),
            b"".join(swapped),
        ]
    )


def said_otherwise(chosen: random.Random, honest: Export, keys: list[curve.Key]) -> bytes:
    """Returns a copy in which one event says something else, is gone, doubled or moved, with all signed again."""
    export = honest.copy()
    run = export.run
    one, two = chosen.randrange(len(run)), chosen.randrange(len(run))
    how = chosen.randrange(8)
    if how == 0:
        said(run[one]).update({name: copy.deepcopy(said(run[two])[name]) for name in ("type", "facts")})
        run[one].content = copy.deepcopy(run[two].content) if run[one].content is not None else None
    elif how == 1 and len(run) > 1:
        del run[one]
    elif how == 2:
        run.insert(two, copy.deepcopy(run[one]))
    elif how == 3:
        run[one], run[two] = run[two], run[one]
    else:
        section = export.registry[1:] if how == 4 and len(export.registry) > 1 else run
        change(chosen, chosen.choice(section), run[two])
    sign_again(export, keys)
    return export.text()


def change(chosen: random.Random, entry: Entry, other: Entry) -> None:
    """Puts something else in the place of one value in the facts or the content of an event."""
    parts: list[Json] = [said(entry)["facts"], entry.content]
    places = [place for part in parts for place in leaves(part)]
    foreign = [holder[name] for part in (said(other)["facts"], other.content) for holder, name in leaves(part)]
    if places:
        holder, name = chosen.choice(places)
        if isinstance(holder, dict) and chosen.randrange(6) == 0:
            del holder[name]
        elif isinstance(holder[name], int) and chosen.randrange(3) == 0:
            holder[name] += chosen.choice([-1, 1, 7])
        else:
            holder[name] = copy.deepcopy(chosen.choice(ODD + foreign))


def leaves(value: Json) -> Iterator[tuple[Json, Json]]:
    """Yields each value inside a value, as what holds it and its name there."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in list(inside):
        yield value, name
        yield from leaves(member)


def said(entry: Entry) -> dict[str, Json]:
    """Returns the statement or the record of an event."""
    return entry.envelope["statement"] or entry.envelope["record"]


def sign_again(export: Export, keys: list[curve.Key]) -> None:
    """Numbers, chains, commits and signs everything anew, with everybody's keys."""
    renamed: dict[str, str] = {}
    for section in (export.registry, export.run):
        for place, entry in enumerate(section):
            old, envelope, facts = entry.hash, entry.envelope, said(entry)["facts"]
            before = section[place - 1] if place else None
            for holder, name in leaves([facts]):
                if name == "hash" and isinstance(holder[name], str):
                    holder[name] = renamed.get(holder[name], holder[name])
            if entry.content is not None and entry.salt is not None:
                envelope["content"] = commitment("content", bytes.fromhex(entry.salt), canonical(entry.content))
            envelope |= {"sequence": place, "previous": before and before.hash}
            if section is export.run:
                envelope["registry"] = export.registry[min(entry.pin, len(export.registry) - 1)].position
            elif before is not None:
                envelope["registry"] = before.position
            if envelope["statement"] is not None:
                sign(entry, before, keys, fresh=section is export.run)
            if entry.artifact is not None:
                entry.artifact["event"] = place
            renamed[old] = entry.hash
    export.seal()


def sign(entry: Entry, before: Entry | None, keys: list[curve.Key], *, fresh: bool) -> None:
    """Signs a statement with the key of its author, who has seen the event before."""
    envelope, statement = entry.envelope, entry.statement
    statement |= {"content": envelope["content"], "seen": before and before.position}
    if fresh:
        # What stands twice is said twice, each time under a command of its own.
        statement["command"] = ulid(f"command {envelope['sequence']} again")
    (proof,) = envelope["proof"].values()
    # A passkey has its fingerprint only once it was made.
    key = next((each for each in keys if each.fingerprint == proof["key"]), None)
    if key is not None:
        envelope["proof"] = key.prove(canonical(statement))


if __name__ == "__main__":
    sys.exit(main())
