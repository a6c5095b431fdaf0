"""What the desk, or somebody with the file, makes of questions and answers that it only keeps."""

from forge.asking import Dialogue, work
from forge.case import Corpus, Family
from forge.dialogues import planned
from forge.encode import canonical, commitment
from forge.export import Export
from forge.writer import way


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("hearsay")
    _altered(family)
    _records(family)
    _replayed(family)
    _keys(family)


def _answered() -> Dialogue:
    """Returns a plan whose gap, event 2, a key answered, event 3; the agent goes on, event 4."""
    plan = planned("hearsay")
    plan.find(blocks=["deploy"])
    plan.answer(2)
    plan.operate()
    return plan


def _altered(family: Family) -> None:
    """The desk changes what others signed."""
    forged = _answered().export()
    forged.run[3].statement["facts"]["assurance"] = "agent"
    forged.run[3].statement["facts"]["kind"] = "multiple_choice"
    forged.repair().seal()
    family.fails("answer-facts", "The desk changes the facts of an answer.", forged, "SIG_INVALID", 3)
    forged = _answered().export()
    forged.run[3].content["answer"] = "red"
    family.fails("answer-content", "The desk exchanges an answer.", forged.seal(), "COMMITMENT_MISMATCH", 3)
    dialogue = work("hearsay")
    dialogue.ask()
    dialogue.answer(0)
    forged = dialogue.export()
    words = forged.run[0].content
    words["wording"]["normal"] = "Which colour shall it not have?"
    family.fails("question-content", "The desk exchanges a question.", forged.seal(), "COMMITMENT_MISMATCH", 0)
    forged = dialogue.export()
    forged.run[0].statement["facts"]["severity"] = "warn"
    about = "The desk softens a question."
    family.fails("question-facts", about, forged.repair().seal(), "SIG_INVALID", 0)
    forged = _answered().export()
    del forged.run[3]
    about = "The desk drops an answer that the agent had seen."
    family.fails("answer-dropped", about, forged.repair().seal(), "STATEMENT_MISMATCH", 3)
    forged = _answered().export()
    del forged.run[2]
    about = "The desk drops a gap that was answered."
    family.fails("gap-dropped", about, forged.repair().seal(), "STATEMENT_MISMATCH", 2)


def _records(family: Family) -> None:
    """The desk changes its own word."""
    plan = planned("hearsay")
    plan.find(assurance="relayed")
    plan.answer(2, "person", assurance="relayed", attribution=way("mcp", "client"))
    forged = plan.export()
    forged.run[3].envelope["record"]["facts"] |= {"assurance": "terminal", "attribution": way()}
    about = "The desk raises the assurance of a person's answer and the root it rests on, which were its word from the start."
    family.holds("raised-last", about, forged.repair().seal(), "pass_with_warnings", integrity=False)
    about = "The same file held against the event that somebody knows."
    known = plan.trace.entries[3].position
    against = ["--against", f"{known['sequence']}:{known['hash']}"]
    family.fails("raised-against", about, forged, "AGAINST_MISMATCH", options=against)
    plan.confirm()
    forged = plan.export()
    forged.run[3].envelope["record"]["facts"] |= {"assurance": "terminal", "attribution": way()}
    about = "The desk raises the assurance of a person's answer after the agent confirmed."
    family.fails("raised-seen", about, forged.repair().seal(), "SEEN_INVALID", 4)
    forged = plan.export()
    _exchange(forged, 3, "red")
    about = "The desk exchanges a person's answer and its commitment after the agent confirmed."
    family.fails("exchanged-seen", about, forged.repair().seal(), "SEEN_INVALID", 4)
    forged = plan.export()
    forged.run[2].envelope["record"]["facts"]["assurance"] = "agent"
    forged.run[3].envelope["record"]["facts"]["question"] = forged.repair().run[2].position
    about = "The desk softens a gap after the agent confirmed, and lets the person's answer name the softer one."
    family.fails("gap-softened", about, forged.repair().seal(), "SEEN_INVALID", 4)
    plan = planned("hearsay")
    plan.find(assurance="terminal")
    plan.answer(2, "person")
    forged = plan.export()
    forged.run[2].envelope["record"]["facts"]["assurance"] = "agent"
    about = "The desk softens a gap and forgets that the answer names it by hash."
    family.fails("gap-softened-hash", about, forged.repair().seal(), "ORDER_VIOLATION", 3)


def _replayed(family: Family) -> None:
    dialogue = work("hearsay")
    dialogue.ask()
    answer = dialogue.answer(0)
    dialogue.revoke(1, 0)
    dialogue.trace.place(answer)
    about = "The desk puts an answer in again that was taken back."
    family.fails("answer-again", about, dialogue.export(), "REPLAY_DUPLICATE", 3)
    dialogue = work("hearsay")
    dialogue.ask()
    answer = dialogue.answer(0)
    other = Dialogue(dialogue.cast, "other work", None)
    other.ask()
    other.trace.place(answer)
    about = "The desk puts an answer from one piece of work into another."
    family.fails("answer-elsewhere", about, other.export(), "STATEMENT_MISMATCH", 1)
    other = Dialogue(dialogue.cast, "more work", None)
    other.ask()
    other.answer(0, position=dialogue.trace.entries[0].position)
    about = "An answer names the question of another piece of work by its hash."
    family.fails("answer-other-trace", about, other.export(), "ORDER_VIOLATION", 1)


def _keys(family: Family) -> None:
    dialogue = work("hearsay")
    dialogue.ask()
    dialogue.cast.store.revoke(dialogue.someone("answerer"))
    dialogue.answer(0)
    about = "A key answers that was revoked."
    family.fails("revoked-key", about, dialogue.export(), "KEY_REVOKED", 1)
    dialogue = work("hearsay")
    dialogue.ask()
    dialogue.answer(0, envelope={"actor": dialogue.cast["agent"].principal})
    about = "The desk names the asker as the actor of an answer."
    family.fails("other-actor", about, dialogue.export(), "ACTOR_MISMATCH", 1)
    dialogue = work("hearsay")
    dialogue.ask()
    entry = dialogue.answer(0)
    entry.envelope["proof"] = "none"
    entry.envelope["record"] = {"cause": None} | {k: entry.statement[k] for k in ("facts", "role", "type")}
    entry.envelope["statement"] = None
    entry.envelope["actor"] = dialogue.cast.store.desk.principal
    entry.envelope["record"]["role"] = "person"
    about = "The desk strips a key's answer of its proof and calls it a person's."
    family.fails("stripped", about, dialogue.export(), "ORDER_VIOLATION", 1)


def _exchange(forged: Export, place: int, value: str) -> None:
    entry = forged.run[place]
    entry.content["answer"] = value
    entry.envelope["content"] = commitment("content", bytes.fromhex(entry.salt or ""), canonical(entry.content))
