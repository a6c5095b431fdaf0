"""The way that acts of people came (docs/format.md, 5): what the desk says of it, and what it may claim on that."""

from typing import Any

from forge.asking import Dialogue, work
from forge.case import Corpus, Family
from forge.clients import bind, token
from forge.confirmations import desk
from forge.dialogues import planned
from forge.encode import Json, ulid
from forge.stories import crew
from forge.writer import way


def add(corpus: Corpus) -> None:
    """Adds to the families of attributions and of honest files."""
    family = corpus.family("attribution")
    _presence(family)
    _overstated(family)
    _own(family)
    _confirmations(family)
    _honest(corpus.family("valid"))


def _asked(label: str, **facts: Json) -> Dialogue:
    """Returns a question that an agent of client a has asked."""
    dialogue = work(label)
    bind(dialogue.cast, "agent", "a")
    dialogue.ask(**facts)
    return dialogue


def _presence(family: Family) -> None:
    def case(name: str, about: str, dialogue: Any, code: str = "ASSURANCE_OVERSTATED", event: int = 1) -> None:
        family.fails(name, about, dialogue.export(), code, event)

    dialogue = _asked("no way")
    dialogue.answer(0, "person", attribution=None)
    case("missing", "The desk records an answer and does not say how it came.", dialogue)
    dialogue = _asked("a way beside a key")
    dialogue.answer(0, attribution=way())
    case("beside-key", "An answerer says beside its signature that it sat at the terminal.", dialogue)
    dialogue = _asked("no way to decline")
    dialogue.act("person", "question_declined", {"attribution": None, "question": 0})
    case("declined", "The desk records that a person declines, and does not say how that came.", dialogue)
    dialogue = _asked("no way to pass on")
    everybody = {"people": True, "principals": None}
    dialogue.act("person", "question_passed_on", {"answerers": everybody, "attribution": None, "question": 0})
    case("passed-on", "The desk records that a person passes a question on, and does not say how that came.", dialogue)
    dialogue = _asked("no way to revoke")
    dialogue.answer(0, "person")
    dialogue.act("person", "answer_revoked", {"answer": 1, "attribution": None, "question": 0})
    case("revoked", "The desk takes an answer back for a person, and does not say how that came.", dialogue, event=2)
    dialogue = _asked("no way to replace")
    dialogue.answer(0, "person")
    dialogue.supersede(1, 0, "person", attribution=None)
    case("superseded", "The desk replaces an answer for a person, and does not say how that came.", dialogue, event=2)
    run = crew("no way to abort").run()
    run.trace.record("session_aborted", {"attribution": None}, {"reason": "enough"}, role="operator")
    case("aborted", "The desk aborts a run for an operator, and does not say how that came.", run)
    for name, about, rest in (
        ("door-unknown", "An answer came in by a way that there is none of.", {"door": "window"}),
        ("root-unknown", "An answer rests on what there is none of.", {"root": "oath"}),
        ("person-named", "An attribution has the name of a person.", {"person": "ada"}),
        ("client-named", "An attribution has the name of a client.", {"client": "claude"}),
        ("token-secret", "An attribution has the secret of a token.", {"token": "dmr_" + "5a" * 32}),
        ("own-absent", "An attribution does not say whether the asker answered.", {"own": None}),
    ):
        dialogue = _asked(f"form {name}")
        dialogue.answer(0, "person", attribution=way() | rest)
        case(name, about, dialogue, "SCHEMA_INVALID")


def _overstated(family: Family) -> None:
    for root, most in (("client", "relayed"), ("mail", "relayed"), ("same_user", "terminal")):
        words = ["relayed", "terminal", "signed_in"]
        for word in words[words.index(most) + 1 :]:
            dialogue = _asked(f"{root} as {word}")
            dialogue.answer(0, "person", assurance=word, attribution=way("http", root))
            about = f"The desk says {word} of an answer whose credential rests on {root}."
            name = f"{root}-as-{word}".replace("_", "-")
            family.fails(name, about, dialogue.export(), "ASSURANCE_OVERSTATED", 1)
    dialogue = _asked("replaced above its root")
    dialogue.answer(0, "person")
    dialogue.supersede(1, 0, "person", assurance="signed_in", attribution=way())
    about = "The desk says signed_in of a new answer that came over the socket."
    family.fails("superseded-above", about, dialogue.export(), "ASSURANCE_OVERSTATED", 2)


def _own(family: Family) -> None:
    own = {"client": ulid("client a"), "own": True}
    dialogue = _asked("own at the terminal")
    dialogue.answer(0, "person", attribution=way("socket", "same_user", **own))
    about = "The asker's program answers as if it sat at the terminal."
    family.fails("own-terminal", about, dialogue.export(), "OWN_CLIENT", 1)
    for door, rest in (("http", {"token": ulid("token a")}), ("page", {})):
        dialogue = _asked(f"own without a form, {door}")
        without = way(door, "client", **own, **rest)
        dialogue.answer(0, "person", assurance="relayed", attribution=without)
        about = f"The asker's program answers as a person over {door}, without a form that it put before anybody."
        family.fails(f"own-{door}", about, dialogue.export(), "OWN_CLIENT", 1)
    dialogue = _asked("own where more is demanded", assurance="terminal")
    dialogue.act("person", "question_declined", {"attribution": way("mcp", "client", **own), "question": 0})
    about = "The asker's program declines a question that wants more than its word."
    family.fails("own-declined", about, dialogue.export(), "OWN_CLIENT", 1)
    dialogue = _asked("own untold")
    hidden = way("mcp", "client", client=ulid("client a"))
    dialogue.answer(0, "person", assurance="relayed", attribution=hidden)
    about = "The asker's program answers, and the desk does not say that it is the asker's."
    family.fails("own-untold", about, dialogue.export(), "OWN_CLIENT", 1, integrity=False)
    plan = planned("own gap untold")
    bind(plan.cast, "agent", "a")
    plan.find(assurance="relayed")
    plan.answer(2, "person", assurance="relayed", attribution=hidden)
    about = "The program that submitted a plan answers a gap of it, and the desk does not say that it is the agent's."
    family.fails_last("own-gap-untold", about, plan, "OWN_CLIENT", integrity=False)


def _confirmations(family: Family) -> None:
    def case(name: str, about: str, code: str, given: Json, **rest: Any) -> None:
        for reply in ("yes", "no"):
            dialogue = desk(f"confirmation {name}")
            bind(dialogue.cast, "agent", "a")
            dialogue.want(assurance="relayed")
            assurance = rest.get("assurance", "relayed")
            (dialogue.yes if reply == "yes" else dialogue.no)(0, assurance=assurance, attribution=given)
            integrity = rest.get("integrity", True)
            family.fails(f"{reply}-{name}", about, dialogue.export(), code, 1, integrity=integrity)

    own = {"client": ulid("client a"), "own": True}
    overstated = "ASSURANCE_OVERSTATED"
    case("missing", "The desk decides for a person and does not say how that came.", overstated, None)
    above = "The desk says terminal of a decision whose credential rests on a client."
    case("above", above, overstated, way("mcp", "client"), assurance="terminal")
    about = "The program whose operation it is decides through its own form."
    case("own", about, "OWN_CLIENT", way("mcp", "client", **own))
    about = "The program whose operation it is decides, and the desk does not say whose it is."
    case("own-untold", about, "OWN_CLIENT", way("mcp", "client", client=ulid("client a")), integrity=False)


def _honest(family: Family) -> None:
    own = {"client": ulid("client a"), "own": True}
    dialogue = _asked("own and told")
    dialogue.answer(0, "person", assurance="relayed", attribution=way("mcp", "client", **own))
    about = "A person answers through the form of the program that asked, and the record says so."
    family.holds("attribution-own", about, dialogue.export())
    dialogue = _asked("through a relay")
    token(dialogue.cast, "relay", client=ulid("client b"), people=[ulid("person ada")], scopes=["relay"])
    relay = {"client": ulid("client b"), "person": ulid("person ada"), "token": ulid("token relay")}
    dialogue.answer(0, "person", assurance="relayed", attribution=way("http", "client", **relay))
    about = "Another program relays what a person said whom its token names."
    family.holds("attribution-relay", about, dialogue.export())
    dialogue = work("bound later")
    dialogue.ask()
    dialogue.answer(
        0, "person", assurance="relayed", attribution=way("mcp", "client", client=ulid("client a"))
    )
    bind(dialogue.cast, "agent", "a")
    about = "A program answers, and only later the asker's key is said to be that program's."
    family.holds("attribution-bound-later", about, dialogue.export())
