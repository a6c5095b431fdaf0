"""Statements in the wrong place: replayed, taken from elsewhere, held back, paired with other content."""

import base64

from forge.case import Corpus, Family
from forge.encode import canonical, commitment
from forge.splice import both, desk, tiny_run
from forge.stories import TRIO, Cast, Run, stored, tiny
from forge.writer import Entry


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("replay")
    _replays(family)
    _foreign(family)
    _held_back(family)
    _pairings(family)


def _replays(family: Family) -> None:
    run = tiny_run()
    run.trace.place(run.trace.entries[2])
    both(family, "same-trace", "appends a proposal a second time", run.export(), "REPLAY_DUPLICATE", 4, tiny())
    run = tiny_run()
    twin = run.trace.entries[2].statement["command"]
    run.propose(statement={"command": twin})
    about = "The planner signs two different statements under one command id."
    family.fails("command", about, run.export(), "REPLAY_DUPLICATE", 4)
    run = Cast("same command", TRIO).run()
    run.propose()
    run.review(2, statement={"command": run.trace.entries[2].statement["command"]})
    about = "Planner and critic happen to use the same command id; it is unique per key only."
    family.holds("same-command-two-keys", about, run.export(), "pass_with_warnings", integrity=False)
    run = Cast("registry replay", TRIO).run()
    honest = run.export()
    registry = run.cast.store.registry
    registry.place(registry.entries[1])
    both(
        family,
        "registration",
        "registers a key a second time with the same statement",
        run.export(),
        "REGISTRY_INVALID",
        2,
        honest,
    )


def _foreign(family: Family) -> None:
    cast = Cast("two traces", TRIO)
    first, second = cast.run("first"), cast.run("second")
    first.propose()
    second.propose()
    honest = second.export()
    opened = honest.copy()
    opened.run = first.export().run[:1]
    opened.run[0].envelope["trace"] = second.trace.id
    desk(
        family,
        "other-trace-opening",
        "opens a trace with the opening of another",
        opened.repair(),
        "STATEMENT_MISMATCH",
        0,
    )
    spliced = honest.copy()
    spliced.run = [*honest.copy().run[:2], *first.export().run[2:]]
    desk(
        family, "cross-trace", "continues a trace with the events of another", spliced.repair(), "STATEMENT_MISMATCH", 2
    )
    second.trace.place(first.trace.entries[2])
    both(
        family,
        "other-trace",
        "appends a statement from another trace of the store",
        second.export(),
        "STATEMENT_MISMATCH",
        3,
        honest,
    )
    retold = second.export()
    retold.run[3].statement["trace"] = second.trace.id
    about = "appends a statement from another trace and changes its trace"
    desk(family, "other-trace-renamed", about, retold.repair(), "SEEN_INVALID", 3)
    swapped = honest.copy()
    swapped.run = first.export().run
    desk(
        family,
        "whole-trace-swapped",
        "puts another trace of the store under this header",
        swapped,
        "STATEMENT_MISMATCH",
        None,
    )
    here, there = tiny_run(), tiny_run("there")
    here.trace.place(there.trace.entries[2])
    both(
        family, "other-store", "appends a statement from another store", here.export(), "STATEMENT_MISMATCH", 4, tiny()
    )
    mixed = tiny()
    mixed.run = there.export().run
    desk(
        family,
        "other-store-run",
        "puts a run of another store under this registry",
        mixed.repair(),
        "STATEMENT_MISMATCH",
        None,
    )
    mixed = tiny()
    mixed.registry = there.export().registry
    desk(
        family,
        "other-store-registry",
        "puts the registry of another store over this run",
        mixed,
        "STATEMENT_MISMATCH",
        None,
    )


def _held_back(family: Family) -> None:
    run = _proposed()
    run.propose(seen=1, at=400_000, not_after=300_000)
    about = "The desk holds a signed statement back and inserts it past its time limit."
    family.fails("held-expired", about, run.export(), "STATEMENT_EXPIRED", 3)
    run = _proposed()
    run.propose(seen=1, at=300_000, not_after=300_000)
    about = "A statement arrives in the last millisecond of its time limit."
    family.holds("held-in-time", about, run.export(), "pass_with_warnings", integrity=False)
    run = _proposed()
    run.refuse(at=400_000)
    run.propose(seen=1, at=300_000, not_after=300_000)
    about = "The desk inserts a statement past its time limit and turns the clock back."
    family.fails("held-clock-back", about, run.export(), "TIME_BACKWARDS", 4)
    run = _proposed()
    run.propose(seen=1, statement={"facts": {"fallback_for": None, "replaces": 2}})
    about = "The planner cites a proposal that it says it had not seen."
    family.fails("held-cites-unseen", about, run.export(), "CITES_UNSEEN", 3)


def _pairings(family: Family) -> None:
    export = stored()
    artifact = export.run[4].artifact
    assert artifact is not None
    salt = artifact["salt"]
    artifact.update(salt=salt[:-2], bytes=_base64(bytes.fromhex(salt[-2:]) + b"5\n"))
    desk(
        family,
        "salt-shorter",
        "moves the last byte of a salt to the artifact, which leaves the hash",
        export,
        "FILE_MALFORMED",
        None,
    )
    artifact.update(salt=salt + b"5".hex(), bytes=_base64(b"\n"))
    desk(
        family,
        "salt-longer",
        "moves the first byte of an artifact to its salt, which leaves the hash",
        export.copy(),
        "FILE_MALFORMED",
        None,
    )
    run = tiny_run("two artifacts")
    run.store_bytes(b"1\n")
    run.store_bytes(b"2\n")
    export = run.export()
    export.run[4].artifact, export.run[5].artifact = export.run[5].artifact, export.run[4].artifact
    desk(family, "artifacts-swapped", "swaps two artifacts", export.repair(), "ARTIFACT_HASH_MISMATCH", 4)
    export = tiny()
    export.run[0].content, export.run[2].content = export.run[2].content, export.run[0].content
    desk(family, "contents-swapped", "swaps the contents of two events", export, "COMMITMENT_MISMATCH", 0)
    export = tiny()
    _other_content(export.run[3])
    about = "The desk pairs a review with other content and commits to that in the envelope."
    family.fails("other-content", about, export.repair().seal(), "STATEMENT_MISMATCH", 3)
    export = tiny()
    said = export.run[3].statement
    export.run[3].envelope["record"] = {
        "cause": None,
        "facts": said["facts"] | {"decision": "rejected"},
        "role": "critic",
        "type": said["type"],
    }
    about = "The desk puts facts of its own beside a signed review."
    family.fails("other-facts", about, export.repair().seal(), "STATEMENT_MISMATCH", 3)


def _proposed() -> Run:
    run = Cast("held", TRIO).run()
    run.propose()
    return run


def _other_content(entry: Entry) -> None:
    entry.content = entry.content | {"rationale": "not at all"}
    entry.envelope["content"] = commitment("content", bytes.fromhex(entry.salt or ""), canonical(entry.content))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
