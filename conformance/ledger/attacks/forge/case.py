"""What a case is, and the collection that becomes `cases.json` and the files beside it."""

import json
from dataclasses import dataclass, field
from typing import Protocol

from forge.encode import Json, canonical
from forge.export import Export

File = Export | bytes


class Told(Protocol):
    """What can be exported as far as it was told."""

    @property
    def newest(self) -> int:
        """The number of the newest event."""

    def export(self) -> Export:
        """Returns the export."""


@dataclass
class Corpus:
    """All cases with their files, by name."""

    cases: list[Json] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def family(self, name: str) -> "Family":
        """Returns the collector of one family."""
        return Family(self, name)

    def outputs(self) -> dict[str, bytes]:
        """Returns every file of the corpus, `cases.json` included."""
        rows = ",\n".join(json.dumps(case, ensure_ascii=False, sort_keys=False) for case in self.cases)
        return self.files | {"cases.json": f"[\n{rows}\n]\n".encode()}


@dataclass
class Family:
    """Collects the cases of one family."""

    corpus: Corpus
    name: str

    def fails(self, name: str, about: str, file: File, code: str, event: int | None = None, **rest: Json) -> None:
        """Adds a case that must fail with this code first, at this event."""
        self._add(name, about, file, "fail", code, event, **rest)

    def fails_last(self, name: str, about: str, told: "Told", code: str, **rest: Json) -> None:
        """Adds a run, plan or piece of work as a case whose newest event must fail with this code."""
        self.fails(name, about, told.export(), code, told.newest, **rest)

    def holds(self, name: str, about: str, file: File, verdict: str = "pass", **rest: Json) -> None:
        """Adds a case in which nothing fails."""
        self._add(name, about, file, verdict, None, None, **rest)

    def _add(
        self,
        name: str,
        about: str,
        file: File,
        verdict: str,
        code: str | None,
        event: int | None,
        *,
        options: list[str] | None = None,
        receipt: Json = None,
        registry: File | None = None,
        second: File | None = None,
        integrity: bool | None = None,
        guesses: list[str] | None = None,
        finds: list[str] | None = None,
    ) -> None:
        name = f"{self.name}-{name}"
        if name in self.corpus.names:
            raise ValueError(f"expected a new name, found {name} twice")
        self.corpus.names.add(name)
        path = self._write(f"files/{name}.jsonl", file)
        options = list(options or [])
        if receipt is not None:
            options += ["--receipt", self._write(f"files/{name}.receipt.json", canonical(receipt) + b"\n")]
        if registry is not None:
            options += ["--registry", self._write(f"files/{name}.registry.jsonl", registry)]
        case: dict[str, Json] = {
            "name": name,
            "family": self.name,
            "about": about,
            "file": path,
            "second": None if second is None else self._write(f"files/{name}.second.jsonl", second),
            "options": options,
            "verdict": verdict,
            "code": code,
            "event": event,
            "integrity": code not in BEYOND_INTEGRITY if integrity is None else integrity,
        }
        # Members that few cases have; what is null is left out.
        case |= {"guesses": guesses, "finds": finds or None}
        self.corpus.cases.append({name: value for name, value in case.items() if value is not None})

    def _write(self, path: str, file: File) -> str:
        data = file.text() if isinstance(file, Export) else file
        # Cases that differ in their options only share a file.
        for other, known in self.corpus.files.items():
            if known == data:
                return other
        self.corpus.files[path] = data
        return path


# Roles, order, claims, endings, papers, and of the meaning what follows from the state of a run.
BEYOND_INTEGRITY = {
    "ROLE_POLICY_VIOLATION",
    "ORDER_VIOLATION",
    "CLAIM_UNPROVEN",
    "CLAIM_DISPUTED",
    "BLOCKED_AGAIN",
    "RETRY_LIMIT",
    "TOOL_BLOCKED",
    "PAPER_INVALID",
    "FIELD_ANSWERED",
    "FINALIZATION_INCOMPLETE",
    "GUESSED",
    "HISTORY_ABANDONED",
    "KEY_UNLINKED",
    "NAME_MISSING",
    "REVOKED_SINCE",
}
