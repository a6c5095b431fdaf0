"""Exports: made honestly, taken apart, repaired and sealed again (docs/format.md, 8 and 9)."""

import copy
from collections.abc import Callable

from forge.curve import Key
from forge.encode import Json, canonical, digest, moment
from forge.writer import Agent, Entry, Store, Trace

Lines = list[bytes]


class Export:
    """An export as its parts. Attackers change parts, repair what needs no key, and seal if they are the desk."""

    def __init__(self, store: Store, trace: Trace | None = None, inclusions: list[Json] | None = None) -> None:
        trace = trace or store.registry
        self.desk: Agent = store.desk
        self.header: dict[str, Json] = {"format": 1, "software": "forge", "store": store.id, "trace": trace.id}
        self.registry: list[Entry] = copy.deepcopy(store.registry.entries)
        self.run: list[Entry] = [] if trace is store.registry else copy.deepcopy(trace.entries)
        self.inclusions: list[Json] = inclusions or []
        self.epoch = store.epoch
        self.time = moment(store.now)
        self.heads: list[Json] = []
        self.checkpoint: Json = None
        self.seal()

    def copy(self) -> "Export":
        """Returns an export that can be changed without changing this one."""
        return copy.deepcopy(self)

    def repair(self) -> "Export":
        """Does all that needs no key: numbers, the chain and the pins. Signed things stay as they are."""
        before = None
        for place, entry in enumerate(self.registry):
            _chain(entry, place, before, before)
            before = entry
        before = None
        for place, entry in enumerate(self.run):
            _chain(entry, place, before, self.registry[min(entry.pin, len(self.registry) - 1)])
            before = entry
        return self

    def seal(self, key: Key | None = None, **fields: Json) -> "Export":
        """Signs heads and checkpoint anew, which only the desk can; the fields go into the checkpoint."""
        signer = key or self.desk.key
        self.heads = [self.signed_head(section, signer) for section in (self.registry, self.run) if section]
        return self.seal_checkpoint(signer, **fields)

    def seal_checkpoint(self, key: Key | None = None, **fields: Json) -> "Export":
        """Signs the checkpoint anew and leaves the heads alone."""
        self.checkpoint = self.signed_checkpoint(self.body(), key, **fields)
        return self

    def redigest(self) -> "Export":
        """Puts the new digest into the checkpoint without signing it: an outsider can do no more."""
        self.checkpoint = copy.deepcopy(self.checkpoint)
        self.checkpoint["document"]["bytes"] = digest("export", b"".join(self.body()))
        return self

    def signed_head(self, section: list[Entry], key: Key | None = None, **fields: Json) -> Json:
        """Returns a signed head over the last event of a section."""
        newest = section[-1]
        document = {
            "epoch": self.epoch,
            "head": newest.position,
            "registry": self.registry[-1].position,
            "store": self.header["store"],
            "trace": newest.envelope["trace"],
        }
        return signed("head", document | fields, key or self.desk.key)

    def signed_checkpoint(self, body: Lines, key: Key | None = None, **fields: Json) -> Json:
        """Returns a signed checkpoint over the given lines."""
        document = {
            "bytes": digest("export", b"".join(body)),
            "epoch": self.epoch,
            "head": (self.run or self.registry)[-1].position,
            "registry": self.registry[-1].position,
            "store": self.header["store"],
            "time": self.time,
            "trace": self.header["trace"],
        }
        return signed("checkpoint", document | fields, key or self.desk.key)

    def body(self) -> Lines:
        """Returns the lines before the checkpoint."""
        lines: list[Json] = [{"header": self.header}]
        for section, head in zip((self.registry, self.run), [*self.heads, None, None], strict=False):
            for entry in section:
                lines += entry.lines()
            lines += [] if head is None else [{"head": head}]
        lines += [{"inclusion": inclusion} for inclusion in self.inclusions]
        return [line(value) for value in lines]

    def lines(self) -> Lines:
        """Returns all lines."""
        return [*self.body(), line({"checkpoint": self.checkpoint})]

    def text(self) -> bytes:
        """Returns the file."""
        return b"".join(self.lines())

    def edited(self, edit: Callable[[Lines], Lines]) -> bytes:
        """Returns the file after an edit of the lines before the checkpoint, with the checkpoint signed over that."""
        return self.sealed(edit(self.body()))

    def sealed(self, body: Lines) -> bytes:
        """Returns the file of the given lines, with the checkpoint signed over them."""
        return b"".join([*body, line({"checkpoint": self.signed_checkpoint(body)})])

    def receipt(self, place: int, key: Key | None = None, **fields: Json) -> Json:
        """Returns the desk's receipt for an event of the run."""
        event = self.run[place]
        document = {
            "epoch": event.envelope["epoch"],
            "event": event.position,
            "registry": event.envelope["registry"],
            "statement": digest("statement", canonical(event.statement)),
            "store": self.header["store"],
            "time": event.envelope["time"],
            "trace": event.envelope["trace"],
        }
        return signed("receipt", document | fields, key or self.desk.key)


def signed(purpose: str, document: Json, key: Key) -> Json:
    """Returns a document with the signature for its purpose."""
    signature = key.sign(purpose, canonical(document))
    return {"document": document, "proof": {"key": key.fingerprint, "signature": signature}}


def line(value: Json) -> bytes:
    """Returns one line of an export."""
    return canonical(value) + b"\n"


def _chain(entry: Entry, place: int, before: Entry | None, pinned: Entry | None) -> None:
    repaired = {
        "sequence": place,
        "previous": None if before is None else before.hash,
        "registry": None if pinned is None else pinned.position,
    }
    for name, value in repaired.items():
        if name not in entry.keep:
            entry.envelope[name] = value
    if entry.artifact is not None and "artifact" not in entry.keep:
        entry.artifact["event"] = place
