"""An agent's end of the lines between a demur desk and an agent in a process of its own (docs/agents.md).

The agent signs with its own key, and believes the desk no more than it must: every event has to follow the one before
by hash, and content and artifacts have to open what was committed to.
"""

import base64
import json
import secrets
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from demur_format import Json, Key, canonical, digest, milliseconds, timestamp, ulid

LONGEST_LINE = 64 << 20
GOOD_FOR = 5 * 60 * 1000  # how long a statement may wait for the desk, in milliseconds


class DeskError(Exception):
    """The desk broke the protocol, or shows a trace that does not hold: there is no way to go on."""


class Refused(Exception):
    """The desk refused a statement. The turn goes on."""

    def __init__(self, code: str, cure: str, field: str | None, message: str) -> None:
        super().__init__(f"{code}: {message}; {cure}")
        self.code, self.cure, self.field, self.message = code, cure, field, message


@dataclass(frozen=True)
class Event:
    """Something that happened. The content is None where it was erased, is missing or never was."""

    sequence: int
    type: str
    role: str
    actor: str
    facts: Json
    content: Json
    statement: Json


@dataclass(frozen=True)
class Artifact:
    """The bytes that the event with this sequence records, if they are still there."""

    event: int
    data: bytes | None


@dataclass(frozen=True)
class Turn:
    """The agent may speak, and ends its turn with `done`."""

    phase: str


@dataclass(frozen=True)
class End:
    """The run is over."""

    phase: str


Heard = Event | Artifact | Turn | End


class Agent:
    """An agent that is connected to a desk over standard input and output."""

    def __init__(self, key: Key, reader: BinaryIO = sys.stdin.buffer, writer: BinaryIO = sys.stdout.buffer) -> None:
        self._key, self._reader, self._writer = key, reader, writer
        self._head: Json = None
        self._due: str | None = None  # the commitment that the next line, an artifact, has to open
        self._turn: Json = None
        self._pending = deque[Heard]()
        kind, self.hello = self._receive()
        if kind != "hello" or self.hello["protocol"] != 1:
            raise DeskError("expected a hello of protocol 1")
        if (self.hello["principal"], self.hello["role"]) != (key.principal, key.role):
            raise DeskError("expected a hello to the holder of this key, found one to somebody else")
        self.policy: Json = self.hello["policy"]

    def __iter__(self) -> Iterator[Heard]:
        """Yields everything that happens, up to and including the end of the run."""
        while True:
            heard = self.pending() or self._hear(*self._receive())
            yield heard
            if isinstance(heard, End):
                return

    def pending(self) -> Heard | None:
        """Returns what was shown while the agent spoke and not heard yet, without waiting."""
        return self._pending.popleft() if self._pending else None

    def say(self, type_: str, facts: Json, content: Json = None, data: bytes | None = None) -> int:
        """Records a statement, with the bytes it records if any; returns its sequence. Raises `Refused`."""
        if self._turn is None:
            raise RuntimeError("nobody listens to an agent outside its turn")
        now = max(time.time_ns() // 1_000_000, milliseconds(self._turn["now"]))
        salt = secrets.token_bytes(32)
        artifact = None
        if data is not None:
            artifact_salt = secrets.token_bytes(32)
            facts = {**facts, "commitment": digest("artifact", artifact_salt, data)}
            artifact = {"bytes": base64.b64encode(data).decode(), "salt": artifact_salt.hex()}
        statement = {
            "command": ulid(now),
            "content": None if content is None else digest("content", salt, canonical(content)),
            "facts": facts,
            "not_after": timestamp(now + GOOD_FOR),
            "role": self._key.role,
            "seen": self._head,
            "store": self.hello["store"],
            "trace": self.hello["trace"],
            "type": type_,
        }
        signature = self._key.sign(canonical(statement))
        self._send({"submit": {
            "artifact": artifact,
            "content": content,
            "proof": {"ed25519": {"key": self._key.fingerprint, "signature": signature}},
            "salt": None if content is None else salt.hex(),
            "statement": statement,
        }})
        return self._answer(statement)

    def store(self, name: str, media_type: str, data: bytes) -> int:
        """Records bytes; returns the sequence that other statements can cite."""
        content = {"media_type": media_type, "name": name, "size": len(data)}
        return self.say("artifact_recorded", {}, content, data)

    def report(self, data: bytes) -> int:
        """Records the auditor's report, JSON with the verdict in its member `status`; returns its sequence."""
        return self.say("report_recorded", {}, None, data)

    def done(self) -> None:
        """Ends the turn."""
        self._turn = None
        self._send({"done": {}})

    def _answer(self, statement: Json) -> int:
        recorded = None
        while True:
            kind, body = self._receive()
            if kind == "refused":
                raise Refused(**body)
            if kind == "recorded":
                if body != recorded:
                    raise DeskError("the desk says that it recorded what it never showed")
                return body["sequence"]
            heard = self._hear(kind, body)
            self._pending.append(heard)
            if isinstance(heard, Event) and heard.statement == statement:
                recorded = self._head

    def _hear(self, kind: str, body: Json) -> Heard:
        if (self._due is None) == (kind == "artifact"):
            raise DeskError("an artifact belongs right after the event that records it, and nowhere else")
        match kind:
            case "event":
                return self._event(body["event"], body["content"], body["salt"])
            case "artifact":
                return self._artifact(body["event"], body["bytes"], body["salt"])
            case "turn" if body["head"] == self._head:
                self._turn = body
                return Turn(body["phase"])
            case "end":
                return End(body["phase"])
        raise DeskError(f"the line {kind} may not stand here")

    def _event(self, event: Json, content: Json, salt: str | None) -> Event:
        sequence, last = event["sequence"], self._head or {"hash": None, "sequence": -1}
        if (event["store"], event["trace"]) != (self.hello["store"], self.hello["trace"]):
            raise DeskError("the desk shows an event of another trace")
        if (sequence, event["previous"]) != (last["sequence"] + 1, last["hash"]):
            raise DeskError(f"event {sequence} does not follow event {last['sequence']}")
        if salt is not None and digest("content", bytes.fromhex(salt), canonical(content)) != event["content"]:
            raise DeskError(f"the content of event {sequence} does not open its commitment")
        said = event["statement"] or event["record"]
        records = said["type"] in ("artifact_recorded", "report_recorded")
        self._due = said["facts"]["commitment"] if records else None
        self._head = {"hash": digest("envelope", canonical(event)), "sequence": sequence}
        content = content if salt is not None else None  # what nobody committed to is not content
        return Event(sequence, said["type"], said["role"], event["actor"], said["facts"], content, event["statement"])

    def _artifact(self, event: int, text: str | None, salt: str | None) -> Artifact:
        data = None if text is None else base64.b64decode(text, validate=True)
        opens = data is None or digest("artifact", bytes.fromhex(salt or ""), data) == self._due
        if event != self._head["sequence"] or not opens:
            raise DeskError(f"the artifact of event {event} is not the one that was recorded")
        self._due = None
        return Artifact(event, data)

    def _receive(self) -> tuple[str, Json]:
        line = self._reader.readline(LONGEST_LINE + 1)
        if not line.endswith(b"\n"):
            raise DeskError("expected another line, found the end of the input or a line that is too long")
        value = json.loads(line)
        if not isinstance(value, dict) or len(value) != 1 or canonical(value) != line[:-1]:
            raise DeskError("expected canonical JSON of one object with one member")
        return next(iter(value.items()))

    def _send(self, line: Json) -> None:
        self._writer.write(canonical(line) + b"\n")
        self._writer.flush()
