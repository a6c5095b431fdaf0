"""Answers that must not count: by the wrong people, with too high words, to something else, or too often."""

from forge.asking import PEOPLE, Dialogue, Fill, work
from forge.case import Corpus, Family
from forge.dialogues import asker, planned, stranger
from forge.encode import Json
from forge.writer import Agent


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("answer")
    _entitled(family)
    _assurances(family)
    _values(family)
    _targets(family)
    _guesses(family)
    _superseded(family)
    _revoked(family)
    _accepted(family)
    _roles(family)


def _case(family: Family, name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION", **facts: Json) -> None:
    """Adds a piece of work whose question has the given facts, and whose last event fails."""
    dialogue = work("answers")
    dialogue.ask(**facts)
    fill(dialogue)
    # That nothing but a passkey is called one needs no state machine.
    family.fails_last(name, about, dialogue, code, integrity=True if "passkey" in name else None)


def _entitled(family: Family) -> None:
    _case(family, "self", "An agent answers its own question with a second key.", lambda d: d.answer(0, asker(d)))
    nobody = {"people": True, "principals": []}
    _case(family, "key-for-people", "A key answers what people are asked.", lambda d: d.answer(0), answerers=nobody)
    dialogue = work("answers")
    dialogue.ask(answerers={"people": False, "principals": [dialogue.someone("answerer").principal]})
    dialogue.answer(0, stranger(dialogue))
    family.fails("unnamed", "A key answers that is not named.", dialogue.export(), "ORDER_VIOLATION", 1)
    keys = {"people": False, "principals": None}
    _case(
        family, "person-for-keys", "A person answers where keys may.", lambda d: d.answer(0, "person"), answerers=keys
    )
    dialogue = work("answers")
    named = sorted(dialogue.someone(role).principal for role in ("agent", "answerer"))
    dialogue.ask(answerers={"people": False, "principals": named})
    dialogue.answer(0, asker(dialogue))
    about = "An agent names itself among the answerers, and answers."
    family.fails("self-named", about, dialogue.export(), "ORDER_VIOLATION", 1)


def _assurances(family: Family) -> None:
    def case(name: str, about: str, who: str, said: str, least: str = "agent", code: str = "ORDER_VIOLATION") -> None:
        _case(family, name, about, lambda d: d.answer(0, who, assurance=said), code, assurance=least)

    for said in ("relayed", "terminal", "signed_in", "passkey"):
        case(f"key-{said.replace('_', '-')}", f"A key calls its answer {said}.", "answerer", said)
    case(
        "key-claims-minimum",
        "A key calls its answer terminal, as the question wants.",
        "answerer",
        "terminal",
        "terminal",
    )
    case("key-below", "A key answers a question for a person at the terminal.", "answerer", "agent", "terminal")
    case("person-agent", "The desk calls a person's answer a key's.", "person", "agent")
    case("person-passkey", "The desk calls a person's answer approved by a passkey.", "person", "passkey")
    case("person-below", "A relayed answer to a question for the terminal.", "person", "relayed", "terminal")
    case("signed-in-below", "A signed-in person answers where a passkey is needed.", "person", "signed_in", "passkey")
    case("passkey-claimed", "The desk claims the passkey that the question needs.", "person", "passkey", "passkey")
    case("oath", "The desk invents an assurance.", "person", "oath", code="SCHEMA_INVALID")


def _values(family: Family) -> None:
    def case(name: str, about: str, value: Json, code: str = "ORDER_VIOLATION", **facts: Json) -> None:
        kinds: Json = {"kinds": ["yes_no", "multiple_choice", "numeric"], "choices": 2}
        _case(family, name, about, lambda d: d.answer(0, "person", value, **facts), code, **kinds)

    chosen: dict[str, Json] = {"kind": "multiple_choice"}
    case("other-kind", "A text answers a question for anything but a text.", "blue")
    case("choice-beyond", "An answer chooses the third of two.", "green", choice=2, **chosen)
    case("choice-missing", "An answer chooses and does not say what.", "blue", **chosen)
    case("choice-with-number", "A number comes with a choice.", 5, kind="numeric", choice=0)
    case("choice-33", "An answer chooses the 33rd.", "blue", "SCHEMA_INVALID", choice=32, **chosen)
    case("choice-number", "An answer chooses by number in its words too.", 0, "CONTENT_INVALID", choice=0, **chosen)
    case("number-as-text", "A number is written as a text.", "5", "CONTENT_INVALID", kind="numeric")
    case("number-as-yes", "A number is yes.", True, "CONTENT_INVALID", kind="numeric")
    case("yes-as-text", "A yes is written as a text.", "true", "CONTENT_INVALID", kind="yes_no")
    case("yes-as-number", "A yes is written as 1.", 1, "CONTENT_INVALID", kind="yes_no")
    _case(family, "text-as-number", "A text is a number.", lambda d: d.answer(0, "person", 5), "CONTENT_INVALID")
    _case(family, "text-empty", "An answer says nothing.", lambda d: d.answer(0, "person", ""), "CONTENT_INVALID")
    _case(family, "text-null", "An answer is null.", lambda d: d.answer(0, "person", None), "CONTENT_INVALID")


def _targets(family: Family) -> None:
    def at(dialogue: Dialogue, sequence: int, hash_of: int) -> Json:
        return {"hash": dialogue.trace.entries[hash_of].hash, "sequence": sequence}

    _case(
        family,
        "other-hash",
        "An answer names one question by number and another by hash.",
        lambda d: (d.ask(), d.answer(0, "person", position=at(d, 0, 1))),
    )
    _case(
        family,
        "strange-hash",
        "An answer belongs to another wording of the question.",
        lambda d: d.answer(0, "person", position={"hash": "5" * 64, "sequence": 0}),
    )
    _case(family, "to-answer", "An answer answers an answer.", lambda d: (d.answer(0, "person"), d.answer(1, "person")))
    _case(
        family,
        "later-question",
        "An answer is to a question that its author had not seen.",
        lambda d: (d.ask(), d.answer(1, seen=0)),
        "CITES_UNSEEN",
    )
    _case(
        family,
        "by-number",
        "An answer names its question by number alone.",
        lambda d: d.answer(0, "person", position=0),
        "SCHEMA_INVALID",
    )
    _case(family, "second", "A second answerer answers.", lambda d: (d.answer(0), d.answer(0, stranger(d))))
    _case(family, "second-same", "One answerer answers twice.", lambda d: (d.answer(0), d.answer(0)))
    _case(family, "second-person", "A person answers after a key.", lambda d: (d.answer(0), d.answer(0, "person")))
    _case(
        family,
        "second-race",
        "Two answers are signed against one event; the desk records both.",
        lambda d: (d.answer(0), d.answer(0, stranger(d), seen=0)),
    )
    _case(family, "cancelled", "An answer to a cancelled question.", lambda d: (d.cancel(0), d.answer(0, "person")))
    _case(
        family,
        "declined",
        "An answer to a declined question.",
        lambda d: (d.decline(0, "person"), d.answer(0, "person")),
    )


def _guesses(family: Family) -> None:
    blocks: dict[str, Json] = {"blocks": ["deploy"]}
    _case(
        family,
        "guess-proceeds",
        "An agent says what it thinks and goes on.",
        lambda d: (d.guess(0), d.operate()),
        **blocks,
    )
    _case(
        family,
        "guess-by-other",
        "Another agent says what the asker thinks.",
        lambda d: d.guess(0, stranger(d, "agent")),
    )
    _case(
        family,
        "guess-as-answerer",
        "An answerer claims what the asker thinks.",
        lambda d: d.guess(0, "answerer"),
        "ROLE_POLICY_VIOLATION",
    )
    _case(
        family,
        "guess-superseded",
        "An agent lets its guess be superseded as if it had counted.",
        lambda d: (d.guess(0), d.supersede(1, 0)),
    )
    _case(family, "guess-by-desk", "The desk guesses.", lambda d: d.guess(0, "desk"), "SIG_MISSING")
    _case(
        family,
        "by-agent",
        "An agent answers in its own role.",
        lambda d: d.answer(0, "agent"),
        "ROLE_POLICY_VIOLATION",
    )
    plan = planned("answers")
    plan.find()
    plan.guess(2)
    plan.confirm()
    about = "An agent says what it thinks of a gap of its plan, and confirms the plan as if that had settled it."
    family.fails("guess-gap", about, plan.export(), "ORDER_VIOLATION", 4)
    plan = planned("answers")
    plan.find()
    plan.answer(2, "person")
    plan.guess(2)
    about = "An agent says what it thinks of a gap that is settled."
    family.fails("guess-gap-settled", about, plan.export(), "ORDER_VIOLATION", 4)
    plan = planned("answers")
    plan.find()
    plan.guess(2, stranger(plan, "agent"))
    about = "Another agent than the one that submitted the plan says what it thinks of a gap."
    family.fails("guess-gap-by-other", about, plan.export(), "ORDER_VIOLATION", 3)
    plan = planned("answers")
    plan.find()
    plan.answer(2, asker(plan))
    plan.confirm()
    about = "Whoever submitted a plan settles a gap of it with its second key, which no rule allows."
    family.fails("own-gap", about, plan.export(), "ORDER_VIOLATION", 3)


def _superseded(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION", **facts: Json) -> None:
        _case(family, f"superseded-{name}", about, lambda d: (d.answer(0), fill(d)), code, **facts)

    case("by-other", "Another answerer supersedes.", lambda d: d.supersede(1, 0, stranger(d)))
    case("by-person", "A person supersedes a key's answer.", lambda d: d.supersede(1, 0, "person"))
    case("stale", "An answer that no longer counts is superseded.", lambda d: (d.supersede(1, 0), d.supersede(1, 0)))
    case("question", "An answer supersedes the question.", lambda d: d.supersede(0, 0))
    case("revoked", "A revoked answer is superseded.", lambda d: (d.revoke(1, 0), d.supersede(1, 0)))
    case(
        "crossed",
        "An answer to one question supersedes that to another.",
        lambda d: (d.ask(), d.answer(2), d.supersede(1, 2)),
    )
    strange = {"hash": "5" * 64, "sequence": 0}
    case("strange-hash", "An answer supersedes that to another wording.", lambda d: d.supersede(1, 0, position=strange))
    case(
        "other-kind",
        "An answer is superseded by one of another kind.",
        lambda d: d.supersede(1, 0, value=5, kind="numeric"),
    )
    case("raised", "A key's second answer is called terminal.", lambda d: d.supersede(1, 0, assurance="terminal"))
    case(
        "content",
        "A second answer is a number and is called a text.",
        lambda d: d.supersede(1, 0, value=5),
        "CONTENT_INVALID",
    )
    _case(
        family,
        "superseded-by-key",
        "A key supersedes a person's answer.",
        lambda d: (d.answer(0, "person"), d.supersede(1, 0)),
    )
    _case(
        family,
        "superseded-lowered",
        "A person's second answer is relayed, where the terminal is needed.",
        lambda d: (d.answer(0, "person"), d.supersede(1, 0, "person", assurance="relayed")),
        assurance="terminal",
    )
    _case(
        family,
        "superseded-by-less",
        "A relayed answer takes the place of one that a person gave at the terminal.",
        lambda d: (d.answer(0, "person"), d.supersede(1, 0, "person", assurance="relayed")),
        assurance="relayed",
    )
    _case(family, "superseded-cancelled", "A cancellation is superseded.", lambda d: (d.cancel(0), d.supersede(1, 0)))


def _revoked(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION") -> None:
        _case(family, f"revoked-{name}", about, lambda d: (d.answer(0), fill(d)), code, blocks=["deploy"])

    case("by-other", "Another answerer takes an answer back.", lambda d: d.revoke(1, 0, stranger(d)))
    case("by-person", "The desk says that a person took a key's answer back.", lambda d: d.revoke(1, 0, "person"))
    case("by-asker", "The asker takes the answer back.", lambda d: d.revoke(1, 0, asker(d)))
    case("twice", "An answer is taken back twice.", lambda d: (d.revoke(1, 0), d.revoke(1, 0)))
    case("superseded", "A superseded answer is taken back.", lambda d: (d.supersede(1, 0), d.revoke(1, 0)))
    case("crossed", "The answer to another question is taken back.", lambda d: (d.ask(), d.answer(2), d.revoke(1, 2)))
    case("proceeds", "An agent goes on after the answer was taken back.", lambda d: (d.revoke(1, 0), d.operate()))
    case("by-agent", "An agent revokes in its own role.", lambda d: d.revoke(1, 0, "agent"), "ROLE_POLICY_VIOLATION")
    _case(
        family,
        "revoked-by-key",
        "A key takes a person's answer back.",
        lambda d: (d.answer(0, "person"), d.revoke(1, 0)),
    )
    _case(family, "revoked-nothing", "An answer is taken back that was not given.", lambda d: (d.ask(), d.revoke(1, 0)))


def _accepted(family: Family) -> None:
    def case(name: str, about: str, fill: Fill, code: str = "ORDER_VIOLATION", **facts: Json) -> None:
        plan = planned("acceptances")
        plan.find(**facts | {"severity": facts.get("severity", "warn")})
        fill(plan)
        family.fails_last(f"accepted-{name}", about, plan, code)

    case("block", "Somebody accepts a gap that must be answered.", lambda d: d.accept(2, "person"), severity="block")
    case("twice", "A gap is accepted twice.", lambda d: (d.accept(2, "person"), d.accept(2, "person")))
    case("answered", "An answered gap is accepted.", lambda d: (d.answer(2, "person"), d.accept(2, "person")))
    case("then-answered", "An accepted gap is answered.", lambda d: (d.accept(2, "person"), d.answer(2, "person")))
    strange = {"hash": "5" * 64, "sequence": 2}
    case("strange-hash", "A gap is accepted in other words.", lambda d: d.accept(2, "person", position=strange))
    case("by-unnamed", "A key accepts what people are asked.", lambda d: d.accept(2), answerers=PEOPLE)
    case("by-key", "A key accepts a warning, which only a person lets pass.", lambda d: d.accept(2))
    case("raised", "A key calls its acceptance terminal.", lambda d: d.accept(2, assurance="terminal"))
    case("below", "A key accepts where a person is needed.", lambda d: d.accept(2), assurance="terminal")
    case("by-agent", "An agent accepts in its own role.", lambda d: d.accept(2, "agent"), "ROLE_POLICY_VIOLATION")
    case("revoked", "An acceptance is taken back.", lambda d: (d.accept(2, "person"), d.revoke(3, 2, "person")))


def _roles(family: Family) -> None:
    def keyed(dialogue: Dialogue, role: str, who: str = "answerer") -> Agent:
        known = dialogue.someone(who)
        return Agent(known.name, role, known.key, known.principal)

    _case(
        family,
        "person-with-key",
        "A key answers as a person.",
        lambda d: d.answer(0, keyed(d, "person"), assurance="terminal"),
        "KEY_ROLE_MISMATCH",
    )
    _case(
        family,
        "agent-as-answerer",
        "An agent answers as an answerer with the key it asked with.",
        lambda d: d.answer(0, keyed(d, "answerer", "agent")),
        "KEY_ROLE_MISMATCH",
    )
    dialogue = work("answers")
    dialogue.ask()
    entry = dialogue.answer(0, "person", assurance="terminal")
    entry.envelope["record"]["role"] = "answerer"
    about = "The desk records an answer for an answerer, who always has a key."
    family.fails("answerer-without-key", about, dialogue.export(), "ROLE_POLICY_VIOLATION", 1)
    dialogue = work("answers")
    dialogue.ask()
    dialogue.answer(0, "desk", assurance="terminal")
    about = "The desk answers in its own role."
    family.fails("by-desk", about, dialogue.export(), "ROLE_POLICY_VIOLATION", 1)
    dialogue = work("answers")
    dialogue.ask()
    dialogue.answer(0, "person", envelope={"actor": dialogue.someone("answerer").principal})
    about = "The desk records a person's answer and names the answerer as its actor."
    family.fails("person-as-principal", about, dialogue.export(), "ACTOR_MISMATCH", 1)
