"""Writes the attack corpus, or compares it with what is committed (see README.md)."""

import argparse
import sys
from pathlib import Path

from forge import (
    agreement,
    amendments,
    anchors,
    answers,
    attributions,
    audits,
    calls,
    checks,
    claims,
    clients,
    confirmations,
    confusables,
    dialogues,
    enrolments,
    envelopes,
    erasures,
    evidence,
    fields,
    files,
    frame,
    guesses,
    handover,
    hearsay,
    keys,
    liars,
    lists,
    meanings,
    moments,
    mutation,
    papers,
    passkeys,
    plans,
    proofs,
    questions,
    registry,
    repetitions,
    replay,
    secrets,
    seed,
    sign_ins,
    splice,
    states,
    valid,
    verdicts,
    waiting,
    withdrawals,
)
from forge.case import Corpus

FAMILIES = [
    valid,
    dialogues,
    seed,
    mutation,
    envelopes,
    frame,
    splice,
    replay,
    keys,
    registry,
    proofs,
    confusables,
    fields,
    lists,
    files,
    states,
    claims,
    questions,
    answers,
    agreement,
    secrets,
    moments,
    handover,
    waiting,
    plans,
    repetitions,
    withdrawals,
    papers,
    hearsay,
    meanings,
    calls,
    evidence,
    audits,
    checks,
    clients,
    confirmations,
    erasures,
    amendments,
    attributions,
    liars,
    passkeys,
    enrolments,
    sign_ins,
    anchors,
    verdicts,
    guesses,
]
ROOT = Path(__file__).resolve().parent


def main() -> int:
    """Returns the exit code: 0, or 1 when `--check` finds a difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a file differs, is missing or is left over"
    )
    arguments = parser.parse_args()
    corpus = Corpus()
    for family in FAMILIES:
        family.add(corpus)
    outputs = corpus.outputs()
    if arguments.check:
        return check(outputs)
    write(outputs)
    size = sum(len(data) for data in outputs.values())
    print(f"{len(corpus.cases)} cases, {len(outputs)} files, {size / 1e6:.2f} MB")
    return 0


def check(outputs: dict[str, bytes]) -> int:
    """Returns 1 and names the files if the folder does not hold exactly the outputs."""
    differing = [path for path, data in outputs.items() if not same(ROOT / path, data)]
    for path in sorted(differing):
        print(f"differs: {path}", file=sys.stderr)
    for left in leftovers(outputs):
        print(f"left over: {left.relative_to(ROOT)}", file=sys.stderr)
    return 1 if differing or leftovers(outputs) else 0


def write(outputs: dict[str, bytes]) -> None:
    """Writes the outputs and removes files of cases that are gone."""
    (ROOT / "files").mkdir(exist_ok=True)
    for left in leftovers(outputs):
        left.unlink()
    for path, data in outputs.items():
        if not same(ROOT / path, data):
            (ROOT / path).write_bytes(data)


def leftovers(outputs: dict[str, bytes]) -> list[Path]:
    """Returns the files of cases that are gone."""
    return sorted(path for path in (ROOT / "files").glob("*") if f"files/{path.name}" not in outputs)


def same(path: Path, data: bytes) -> bool:
    """Returns whether the file is there and holds the data."""
    return path.is_file() and path.read_bytes() == data


if __name__ == "__main__":
    sys.exit(main())
