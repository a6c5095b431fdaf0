"""Receipts, known heads, pinned keys, swapped signatures of the desk, and two files that disagree."""

from forge.case import Corpus, Family
from forge.curve import Key
from forge.export import Export, signed
from forge.stories import TRIO, Cast, Run, bare, mini, tiny


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("anchor")
    _receipts(family)
    _pins(family)
    _swapped(family)
    _equivocation(family)


def _receipts(family: Family) -> None:
    first = tiny()
    good = first.receipt(3)
    other = _sibling()
    for name, about, receipt in (
        ("other-trace", "A receipt of another trace of the store.", other.receipt(2)),
        ("other-store", "A receipt of another store.", _proposed("elsewhere").export().receipt(2)),
        (
            "other-hash",
            "The desk signed a receipt for another event at this place.",
            first.receipt(3, event={"hash": "0" * 64, "sequence": 3}),
        ),
        (
            "other-place",
            "The desk signed a receipt for this event at another place.",
            first.receipt(3, event=first.run[3].position | {"sequence": 2}),
        ),
        (
            "beyond",
            "The desk signed a receipt for an event the file does not have.",
            first.receipt(3, event={"hash": "0" * 64, "sequence": 9}),
        ),
        (
            "other-statement",
            "The desk signed a receipt for this event and another statement.",
            first.receipt(3, statement="0" * 64),
        ),
        ("planner", "The planner signed a receipt in the desk's place.", first.receipt(3, Key("tiny/planner"))),
        ("stranger", "A stranger signed a receipt.", first.receipt(3, Key("stranger"))),
        (
            "purpose",
            "The desk signed a receipt with the purpose of a head.",
            signed("head", good["document"], first.desk.key),
        ),
        (
            "other-time",
            "The desk signed a receipt for this event with another time.",
            first.receipt(3, time=first.run[2].envelope["time"]),
        ),
        (
            "changed",
            "The holder changed the time in a receipt.",
            good | {"document": good["document"] | {"time": first.run[2].envelope["time"]}},
        ),
    ):
        family.fails(f"receipt-{name}", about, tiny(), "RECEIPT_MISMATCH", receipt=receipt)
    later = {"registry": {"hash": "0" * 64, "sequence": 900}}
    about = "The desk gave a receipt after the registry in the file ends."
    family.holds("receipt-later", about, tiny(), "not_established", receipt=first.receipt(3, **later), finds=["RECEIPT_NEWER"])
    about = "The same receipt, for another statement: that much the file shows."
    lie = first.receipt(3, statement="0" * 64, **later)
    family.fails("receipt-later-statement", about, tiny(), "RECEIPT_MISMATCH", receipt=lie)


def _pins(family: Family) -> None:
    nobody = Key("nobody").fingerprint
    planner = Key("bare/planner").fingerprint
    desk = Key("bare/desk").fingerprint
    for name, about, pin in (
        ("desk", "The reader knows another key of the desk.", f"desk={nobody}"),
        ("desk-is-planner", "The reader takes the planner's key for the desk's.", f"desk={planner}"),
        ("planner", "The reader knows another key of the planner.", f"planner={nobody}"),
        ("planner-is-desk", "The reader takes the desk's key for the planner's.", f"planner={desk}"),
    ):
        family.fails(f"pin-{name}", about, bare(), "PIN_MISMATCH", options=["--pin", pin])
    about = "The reader gives a good pin and a bad one."
    pins = ["--pin", f"desk={desk}", "--pin", f"planner={nobody}"]
    family.fails("pin-one-of-two", about, bare(), "PIN_MISMATCH", options=pins)
    about = "The reader noted another hash at this place."
    family.fails("against-other", about, tiny(), "AGAINST_MISMATCH", options=["--against", "1:" + "0" * 64])
    about = "The reader noted this hash at another place."
    family.fails("against-place", about, tiny(), "AGAINST_MISMATCH", options=["--against", f"3:{tiny().run[2].hash}"])
    about = "The reader noted a hash without its place, and no event has it."
    family.fails("against-hash", about, tiny(), "AGAINST_MISMATCH", options=["--against", "0" * 64])
    newest = tiny().registry[-1].position
    about = "The reader noted a later event of the registry than the file has: it was cut."
    options = ["--against", f"{newest['sequence'] + 1}:{'0' * 64}"]
    family.fails("against-registry-beyond", about, tiny(), "AGAINST_MISMATCH", options=options)
    for name, about, noted in (
        ("hash-held", "The reader noted a hash of the trace without its place.", tiny().run[2].hash),
        ("registry-held", "The reader noted an event of the registry.", f"{newest['sequence']}:{newest['hash']}"),
        ("registry-hash-held", "The reader noted a hash of the registry without its place.", newest["hash"]),
    ):
        rest = {"options": ["--against", noted], "integrity": True}
        family.holds(f"against-{name}", about, tiny(), "pass_with_warnings", **rest)


def _swapped(family: Family) -> None:
    cast = Cast("swapped", TRIO)
    one, two = cast.run("one"), cast.run("two")
    one.abort()
    two.abort()
    export, other = one.export(), two.export()
    swapped = export.copy()
    swapped.heads[1] = other.heads[1]
    about = "The desk's head of another trace stands in the place of this one's."
    family.fails("head-of-other-trace", about, swapped.seal_checkpoint(), "HEAD_INVALID")
    swapped = export.copy()
    swapped.heads = [swapped.heads[1], swapped.heads[0]]
    about = "The heads of registry and run change places."
    family.fails("heads-exchanged", about, swapped.seal_checkpoint(), "HEAD_INVALID")
    swapped = export.copy()
    swapped.checkpoint = other.checkpoint
    about = "The checkpoint of another trace stands at the end."
    family.fails("checkpoint-of-other-trace", about, swapped, "STATEMENT_MISMATCH")
    earlier = mini()
    earlier.run.pop()
    swapped = mini()
    swapped.checkpoint = earlier.seal().checkpoint
    about = "The checkpoint of an earlier export of the same trace stands at the end."
    family.fails("checkpoint-of-earlier-export", about, swapped, "CHECKPOINT_INVALID")


def _equivocation(family: Family) -> None:
    def fork(*decisions: str) -> Export:
        run = _proposed("fork")
        for decision in decisions:
            run.review(2, decision)
        return run.export()

    about = "The desk shows one reader an approval and another a rejection at the same place."
    family.fails("equivocation", about, fork("approved"), "EQUIVOCATION", second=fork("rejected"))
    longer = _proposed("fork")
    longer.review(2, "rejected")
    longer.propose(replaces=2)
    about = "The desk shows two runs that part at one place, one longer than the other."
    family.fails("equivocation-longer", about, fork("approved"), "EQUIVOCATION", second=longer.export())
    cast, twin = Cast("registry fork", ["planner"]), Cast("registry fork", ["planner"])
    cast.store.restore()
    twin.store.revoke(twin["planner"])
    about = "One file has the revocation of a key, the other a registry that began again from a backup before it."
    files = {"second": Export(twin.store), "integrity": False}
    family.holds("abandoned-registry", about, Export(cast.store), "pass_with_warnings", **files)
    about = "The same two files for a reader who asks for everything."
    family.fails(
        "abandoned-registry-strict", about, Export(cast.store), "HISTORY_ABANDONED", options=["--strict"], **files
    )
    about = "One file is the beginning of the other: the desk only went on."
    family.holds("prefix", about, fork(), "pass_with_warnings", second=fork("approved"), integrity=False)
    about = "The same two files the other way round."
    family.holds("prefix-reversed", about, fork("approved"), "pass_with_warnings", second=fork(), integrity=False)
    about = "Two files of two traces of one store cannot be compared."
    family.holds("other-trace", about, mini(), "not_established", second=_sibling("mini"), integrity=False)
    about = "Two files of two stores cannot be compared."
    family.holds("other-store", about, mini(), "not_established", second=tiny(), integrity=False)


def _sibling(label: str = "tiny") -> Export:
    run = Cast(label, TRIO).run("sibling")
    run.propose()
    return run.export()


def _proposed(label: str) -> Run:
    run = Cast(label, TRIO).run()
    run.propose()
    return run
