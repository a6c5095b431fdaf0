"""Mutation of every field of envelopes and records, by an outsider and by the desk."""

from forge.case import Corpus, Family
from forge.encode import Json, moment, ulid
from forge.export import Export
from forge.mutation import Change, field, mutate, opened
from forge.stories import TRIO, Cast, tiny
from forge.writer import Entry


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("envelope")
    _fields(family)
    _places(family)
    _records(family)
    _last_event(family)


def _fields(family: Family) -> None:
    critic = tiny().run[3].envelope["actor"]
    beside: Json = {
        "cause": None,
        "facts": {"fallback_for": None, "replaces": None},
        "role": "planner",
        "type": "proposal_created",
    }
    mismatch = "STATEMENT_MISMATCH"
    for who, name, what, change, code in (
        ("both", "actor", "the actor to another principal", field(actor=critic), "ACTOR_MISMATCH"),
        ("desk", "content", "the envelope's commitment only", field(content="0" * 64), mismatch),
        ("desk", "content-null", "the envelope's commitment to null", field(content=None), mismatch),
        ("desk", "epoch", "the epoch", field(epoch=2), "EPOCH_MISMATCH"),
        ("desk", "epoch-zero", "the epoch to zero", field(epoch=0), "SCHEMA_INVALID"),
        ("desk", "format", "the envelope's format to 2", field(format=2), "SCHEMA_INVALID"),
        ("desk", "record", "the record, beside the statement", field(record=beside), mismatch),
        ("desk", "statement-null", "the statement to null", field(statement=None), mismatch),
        ("desk", "store", "the envelope's store", field(store="0" * 64), mismatch),
        ("desk", "store-null", "the envelope's store to null", field(store=None), mismatch),
        ("desk", "store-both", "the store in envelope and statement", _in_both("store", "0" * 64), mismatch),
        ("desk", "trace", "the envelope's trace", field(trace=ulid("elsewhere")), mismatch),
        ("desk", "trace-both", "the trace in envelope and statement", _in_both("trace", ulid("elsewhere")), mismatch),
    ):
        mutate(family, who, name, what, opened(), 2, change, code)


def _places(family: Family) -> None:
    beyond = field(registry={"hash": "0" * 64, "sequence": 4})
    other = field(registry={"hash": "0" * 64, "sequence": 1})
    mismatch = "STATEMENT_MISMATCH"
    for who, name, what, place, change, code in (
        ("both", "previous", "the previous hash", 2, field(previous="0" * 64), "CHAIN_BREAK"),
        ("desk", "previous-null", "the previous hash to null", 2, field(previous=None), mismatch),
        ("desk", "previous-first", "the first event's previous hash", 0, field(previous="0" * 64), mismatch),
        ("both", "registry-earlier", "the pinned registry event to an earlier one", 2, _pin(0), "REGISTRY_PIN"),
        ("desk", "registry-hash", "the hash of the pinned registry event", 2, other, "REGISTRY_PIN"),
        ("desk", "registry-beyond", "the pin to an event that is not there", 2, beyond, "REGISTRY_PIN"),
        ("desk", "registry-null", "the pin to null", 2, field(registry=None), mismatch),
        ("desk", "sequence-next", "the number to the next one", 2, field(sequence=3), "CHAIN_BREAK"),
        ("desk", "sequence-before", "the number to the one before", 2, field(sequence=1), mismatch),
        (
            "both",
            "time-earlier",
            "the time to one before the event before",
            2,
            field(time=moment(20)),
            "TIME_BACKWARDS",
        ),
        ("desk", "time-late", "the time to one past the limit", 2, field(time=moment(990_000)), "STATEMENT_EXPIRED"),
    ):
        mutate(family, who, name, what, opened(), place, change, code)
    pinned = Cast("mutated pin", TRIO).gathered().run()
    pinned.propose()
    export = pinned.export()
    mutate(family, "desk", "registry-first", "the first event's pin", export, 0, _pin(1), "SEEN_INVALID", 2)
    shifted = field(time=moment(41))
    mutate(family, "both", "time-shifted", "the time by a millisecond", tiny(), 2, shifted, "SEEN_INVALID", 3)


def _records(family: Family) -> None:
    for name, change in (
        ("cause", _record(cause=0)),
        ("facts", lambda entry: entry.envelope["record"]["facts"].update(code="OTHER")),
        ("time", field(time=moment(150))),
    ):
        about = f"An outsider changes `{name}` of a record at the end and repairs the chain."
        export = _refused()
        change(export.run[1])
        family.fails(f"record-{name}-outsider", about, export.repair(), "HEAD_INVALID")
    planner = _refused().run[0].envelope["actor"]
    for name, what, change, code in (
        ("cause-itself", "the cause of a record to its own place", _record(cause=1), "STATEMENT_MISMATCH"),
        ("null", "a record to null", field(record=None), "STATEMENT_MISMATCH"),
        ("actor", "the actor of a record to an agent", field(actor=planner), "ACTOR_MISMATCH"),
        ("role", "the role of a record to an agent's", _record(role="executor"), "ROLE_POLICY_VIOLATION"),
    ):
        mutate(family, "desk", f"record-{name}", what, _refused(), 1, change, code)


def _last_event(family: Family) -> None:
    """The last event is seen by nobody: only the head binds it, and the desk can sign another head."""
    forged = tiny()
    forged.run[3].envelope["time"] = moment(70)
    about = "An outsider changes the time of the last event."
    family.fails("last-time-outsider", about, forged.copy(), "HEAD_INVALID")
    about = "The desk changes the time of the last event and signs again; nothing in the file shows it."
    family.holds("last-time-desk", about, forged.seal(), "pass_with_warnings", integrity=False)
    about = "The same, but the author of the last event kept its receipt."
    family.fails("last-time-desk-receipt", about, forged.copy(), "RECEIPT_MISMATCH", receipt=tiny().receipt(3))
    about = "The same, but a reader noted the head before."
    options = ["--against", f"3:{tiny().run[3].hash}"]
    family.fails("last-time-desk-against", about, forged.copy(), "AGAINST_MISMATCH", options=options)


def _refused() -> Export:
    run = Cast("mutated refusal", TRIO).run()
    run.refuse()
    return run.export()


def _pin(place: int) -> Change:
    return lambda entry: setattr(entry, "pin", place)


def _record(**fields: Json) -> Change:
    return lambda entry: entry.envelope["record"].update(fields)


def _in_both(name: str, value: str) -> Change:
    def change(entry: Entry) -> None:
        entry.envelope[name] = entry.statement[name] = value

    return change
