"""Insertion, deletion, cutting and reordering of events, by an outsider and by the desk."""

from forge.case import Corpus, Family
from forge.curve import Key
from forge.export import Export
from forge.stories import TRIO, Cast, Run, stored, tiny
from forge.writer import Agent


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("splice")
    _insertions(family)
    _deletions(family)
    _tails(family)
    _reorderings(family)


def _insertions(family: Family) -> None:
    both(family, "insert-record", "inserts a refusal that never was", _insert_record(tiny()), "SEEN_INVALID", 4)
    stranger = Agent("stranger", "critic", Key("stranger"), Cast("tiny", TRIO)["critic"].principal)
    run = tiny_run()
    run.review(2, "rejected", who=stranger)
    export = run.export()
    both(family, "insert-stranger", "appends a review signed with a key of their own", export, "KEY_UNKNOWN", 4, tiny())
    run = tiny_run()
    forged = run.review(2, "rejected")
    forged.envelope["proof"]["ed25519"]["signature"] = tiny().run[3].envelope["proof"]["ed25519"]["signature"]
    both(
        family,
        "insert-borrowed",
        "appends a review with the signature of another one",
        run.export(),
        "SIG_INVALID",
        4,
        tiny(),
    )
    run = tiny_run()
    run.refuse()
    about = "An outsider appends a refusal, which needs no author's key, to the end."
    outsider = tiny()
    outsider.run = run.export().run
    family.fails("append-record-outsider", about, outsider, "HEAD_INVALID")
    about = "The desk appends a refusal that never was: its word, and nothing contradicts it."
    family.holds("append-record-desk", about, run.export(), "pass_with_warnings", integrity=False)


def _deletions(family: Family) -> None:
    export = stored()
    del export.run[3]
    about = "An outsider deletes an event in the middle and repairs nothing."
    family.fails("delete-bare", about, export, "SEEN_INVALID", 3)
    export = stored()
    del export.run[3]
    both(
        family,
        "delete-middle",
        "deletes an event in the middle and renumbers the rest",
        export.repair(),
        "STATEMENT_MISMATCH",
        3,
    )
    run = tiny_run()
    run.refuse("one")
    run.refuse("two")
    export = run.export()
    del export.run[4]
    about = "An outsider deletes a record before a record and repairs nothing."
    family.fails("delete-record-bare", about, export.copy(), "CHAIN_BREAK", 4)
    about = "An outsider deletes a record before a record and repairs the chain."
    family.fails("delete-record-outsider", about, export.repair(), "HEAD_INVALID")
    export = tiny()
    del export.run[:2]
    desk(family, "delete-first", "deletes the first two events", export.repair(), "STATEMENT_MISMATCH", 0)
    export = _raced()
    del export.run[3]
    desk(
        family,
        "delete-raced",
        "deletes one of two events signed against the same one",
        export.repair(),
        "STATEMENT_MISMATCH",
        3,
    )


def _tails(family: Family) -> None:
    whole = stored()
    cut = whole.copy()
    cut.run = cut.run[:3]
    about = "An outsider cuts off the end and leaves head and checkpoint."
    family.fails("tail-outsider", about, cut.copy(), "HEAD_INVALID")
    older = cut.copy().seal()
    mixed = cut.copy()
    mixed.heads = older.heads
    about = "An outsider cuts off the end and puts in the head of an earlier commit."
    family.fails("tail-earlier-head", about, mixed.redigest(), "CHECKPOINT_INVALID")
    about = "The desk cuts off the end and signs again; the file alone is an honest prefix."
    family.holds("tail-desk", about, older, "pass_with_warnings", integrity=False)
    about = "The same, but the executor kept the receipt of an event that was cut off."
    family.fails("tail-desk-receipt", about, older.copy(), "RECEIPT_MISMATCH", receipt=whole.receipt(4))
    known = whole.run[4].position
    about = "The same, but a reader noted a head that was cut off."
    family.fails(
        "tail-desk-against",
        about,
        older.copy(),
        "AGAINST_MISMATCH",
        options=["--against", f"{known['sequence']}:{known['hash']}"],
    )
    about = "The same with a receipt of an event before the cut, which still holds."
    family.holds(
        "tail-desk-older-receipt", about, older.copy(), "pass_with_warnings", receipt=whole.receipt(2), integrity=False
    )
    empty = whole.copy()
    empty.run = []
    empty.heads = empty.heads[:1]
    about = "The desk cuts off the whole run and keeps the registry."
    family.fails("tail-everything", about, empty.seal_checkpoint(), "FILE_MALFORMED")


def _reorderings(family: Family) -> None:
    export = stored()
    export.run[3], export.run[4] = export.run[4], export.run[3]
    about = "An outsider swaps two lines and repairs nothing."
    family.fails("swap-bare", about, export, "SEEN_INVALID", 3)
    both(
        family,
        "swap-middle",
        "swaps two events and repairs the chain",
        _swapped(stored(), 3, 4),
        "STATEMENT_MISMATCH",
        3,
    )
    run = tiny_run()
    run.refuse("one")
    run.refuse("two")
    export = run.export()
    export.run[4], export.run[5] = export.run[5], export.run[4]
    about = "An outsider swaps two records and repairs nothing."
    family.fails("swap-records-bare", about, export, "CHAIN_BREAK", 4)
    desk(
        family,
        "swap-raced",
        "swaps two events signed against the same one",
        _swapped(_raced(), 2, 3),
        "SEEN_INVALID",
        4,
    )
    last = _raced()
    last.run = last.run[:4]
    swapped = _swapped(last.copy(), 2, 3).seal()
    about = "The desk swaps the last two events, both signed against the one before; no statement contradicts it."
    family.holds("swap-last-desk", about, swapped, "pass_with_warnings", integrity=False)
    about = "The same, but an author kept a receipt."
    family.fails("swap-last-desk-receipt", about, swapped.copy(), "RECEIPT_MISMATCH", receipt=last.seal().receipt(2))


def both(
    family: Family, name: str, what: str, forged: Export, code: str, event: int | None, honest: Export | None = None
) -> None:
    """Adds the forgery twice: with the heads and checkpoint of the honest export, and signed again by the desk."""
    outsider = forged.copy()
    if honest is not None:
        outsider.heads, outsider.checkpoint = honest.copy().heads, honest.copy().checkpoint
    family.fails(f"{name}-outsider", f"An outsider {what}.", outsider, code, event)
    desk(family, name, what, forged, code, event)


def desk(family: Family, name: str, what: str, forged: Export, code: str, event: int | None) -> None:
    """Adds the forgery signed again by the desk. An outsider's would be the same with stale signatures."""
    about = f"The desk {what} and signs heads and checkpoint again."
    family.fails(f"{name}-desk", about, forged.copy().seal(), code, event)


def tiny_run(label: str = "tiny") -> Run:
    """Returns the tiny run, ready to go on."""
    run = Cast(label, TRIO).run()
    run.propose()
    run.review(2)
    return run


def _raced() -> Export:
    """Returns a run whose events 2 and 3 were both signed against 1; 4 saw 3."""
    run = Cast("raced", TRIO).run()
    run.propose()
    run.propose(seen=1)
    run.review(2)
    return run.export()


def _insert_record(export: Export) -> Export:
    run = tiny_run()
    export.run.insert(2, run.refuse(at=35, pin=1))
    return export.repair()


def _swapped(export: Export, first: int, second: int) -> Export:
    run = export.run
    run[first], run[second] = run[second], run[first]
    # The clock is the desk's: the times stay in order.
    one, two = run[first].envelope, run[second].envelope
    one["time"], two["time"] = two["time"], one["time"]
    return export.repair()
