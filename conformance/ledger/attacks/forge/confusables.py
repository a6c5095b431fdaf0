"""Bytes that look like the canonical form: white space, order, escapes, numbers, encodings, strange characters."""

from forge.case import Corpus, Family
from forge.export import Export, Lines
from forge.stories import TRIO, Cast, bare


def add(corpus: Corpus) -> None:
    """Adds the family."""
    family = corpus.family("canonical")
    _json(family)
    _numbers(family)
    _strings(family)
    _ends(family)
    _keys(family)
    _encodings(family)


def _json(family: Family) -> None:
    edit(family, "space", "a space after a colon", b'"epoch":1', b'"epoch": 1')
    edit(family, "space-inside", "a space in an empty place", b',"salt":', b' ,"salt":')
    edit(family, "tab-before", "a tab before the line", b'{"event":{"content":', b'\t{"event":{"content":')
    edit(family, "space-after", "a space at the end of the line", b"}}\n", b"}} \n")
    edit(family, "key-order", "two keys in the wrong order", b'"epoch":1,"format":1', b'"format":1,"epoch":1')
    edit(family, "duplicate-same", "a key twice with the same value", b'"epoch":1', b'"epoch":1,"epoch":1')
    edit(
        family,
        "duplicate-other",
        "a key twice with different values",
        b'"name":"planner"',
        b'"name":"critic","name":"planner"',
    )
    edit(
        family,
        "duplicate-escaped",
        "a key twice, once with an escape",
        b'"name":"planner"',
        b'"n\\u0061me":"critic","name":"planner"',
    )
    edit(family, "trailing-comma", "a comma before a bracket", b'["planner"]', b'["planner",]')
    edit(family, "comment", "a comment", b'"epoch":1', b'"epoch":1/**/')
    edit(family, "two-values", "a second value on the line", b"}}\n", b"}}{}\n")
    edit(family, "literal-case", "a literal in upper case", b'"record":null', b'"record":NULL')
    edit(family, "single-quotes", "single quotes", b'"planner"]', b"'planner']")


def _numbers(family: Family) -> None:
    for name, literal in (
        ("fraction", b"1.0"),
        ("exponent", b"1e0"),
        ("plus", b"+1"),
        ("leading-zero", b"01"),
        ("bare-fraction", b"1."),
        ("two-to-53", b"9007199254740992"),
        ("huge", b"1" + b"0" * 400),
        ("nan", b"NaN"),
        ("infinity", b"Infinity"),
        ("hex", b"0x1"),
    ):
        edit(family, f"number-{name}", f"the number {literal[:20].decode()}", b'"epoch":1', b'"epoch":' + literal)
    edit(
        family, "number-minus-zero", "the number -0", b'"sequence":0,"statement"', b'"sequence":-0,"statement"', place=1
    )
    for name, about, value in (
        ("large-float", "a float that canonical JSON writes as a literal beyond 2^53-1", b"100000000000000000000"),
        ("exponent-case", "an exponent in upper case", b"1E+21"),
        ("exponent-no-sign", "an exponent without its sign", b"1e21"),
        ("digits", "a float with more digits than needed", b"1.50"),
    ):
        export = later({"a": 1.5})
        swapped = _replace(export, b'{"a":1.5}', b'{"a":' + value + b"}", 6)
        family.fails(f"number-{name}", f"Content of a later type has {about}.", swapped, "FILE_MALFORMED")


def _strings(family: Family) -> None:
    for name, what, written in (
        ("escaped-ascii", "an escaped letter", b'"pl\\u0061nner"'),
        ("escaped-slash", "an escaped slash", b'"planner\\/"'),
        ("escaped-2028", "an escaped line separator", b'"\\u2028"'),
        ("escaped-emoji", "an escaped surrogate pair", b'"\\ud83d\\ude00"'),
        ("escape-case", "an escape in upper case", b'"\\u001B"'),
        ("escape-long", "a long escape where a short one exists", b'"\\u000a"'),
        ("escape-unknown", "an escape that JSON does not have", b'"\\x41"'),
        ("lone-surrogate", "a lone surrogate", b'"\\ud800"'),
        ("surrogates-reversed", "a surrogate pair in the wrong order", b'"\\ude00\\ud83d"'),
        ("raw-control", "a raw control character", b'"\x01"'),
        ("raw-tab", "a raw tab", b'"\t"'),
        ("nul", "a raw zero byte", b'"\x00"'),
        ("utf8-invalid", "a byte that is not UTF-8", b'"\xff"'),
        ("utf8-overlong", "an overlong encoding of a letter", b'"\xc1\xa1"'),
        ("utf8-surrogate", "a surrogate encoded in UTF-8", b'"\xed\xa0\x80"'),
        ("utf8-beyond", "a code point beyond U+10FFFF", b'"\xf4\x90\x80\x80"'),
        ("utf8-cut", "a cut-off sequence", b'"\xf0\x9f\x98"'),
    ):
        edit(family, f"string-{name}", what, b'{"name":"planner"}', b'{"name":' + written + b"}")


def _ends(family: Family) -> None:
    about = "The desk begins the file with a byte order mark."
    family.fails("bom", about, bare().edited(lambda lines: [b"\xef\xbb\xbf" + lines[0], *lines[1:]]), "FILE_MALFORMED")
    about = "The desk ends every line with carriage return and line feed."
    family.fails("crlf", about, bare().edited(lambda lines: [line[:-1] + b"\r\n" for line in lines]), "FILE_MALFORMED")
    about = "The desk puts an empty line between two lines."
    family.fails("empty-line", about, bare().edited(lambda lines: [*lines[:2], b"\n", *lines[2:]]), "FILE_MALFORMED")
    about = "The desk writes the file in UTF-16."
    wide = bare().text().decode().encode("utf-16")
    family.fails("utf-16", about, wide, "FILE_MALFORMED")
    about = "A line feed is put inside an object."
    broken = bare().edited(lambda lines: [lines[0].replace(b',"software"', b'\n,"software"'), *lines[1:]])
    family.fails("line-feed-inside", about, broken, "FILE_MALFORMED")


def _keys(family: Family) -> None:
    export = later({"\U0001f600": 1, "\ufb33": 2})
    ordered = '{"\U0001f600":1,"\ufb33":2}'.encode()
    reversed_ = '{"\ufb33":2,"\U0001f600":1}'.encode()
    about = "Content has its keys in the order of UTF-8 instead of UTF-16."
    family.fails("keys-utf8-order", about, _replace(export, ordered, reversed_, 6), "FILE_MALFORMED")
    export = later({"caf\u00e9": 1})
    export.run[1].content = {"cafe\u0301": 1}
    about = "The desk writes a key in its decomposed form, the author signed the composed one."
    family.fails("keys-nfd", about, export.seal_checkpoint(), "COMMITMENT_MISMATCH", 1)
    export = bare()
    export.registry[1].content = {"name": "pla\u0301nner"}
    about = "A name is written with a combining character that its holder did not sign."
    family.fails("text-nfd", about, export.seal_checkpoint(), "COMMITMENT_MISMATCH", 1)


def _encodings(family: Family) -> None:
    """Canonical JSON, but a hash, time or name in the wrong form."""
    first = bare().registry[1].envelope
    for name, field, value in (
        ("hash-upper", "previous", first["previous"].upper()),
        ("hash-short", "previous", first["previous"][:62]),
        ("hash-prefix", "previous", "0x" + first["previous"][2:]),
        ("hash-number", "previous", 1),
        ("time-no-millis", "time", "2026-11-15T00:00:00Z"),
        ("time-offset", "time", "2026-11-15T00:00:00.010+00:00"),
        ("time-lower", "time", "2026-11-15t00:00:00.010z"),
        ("time-day", "time", "2026-02-30T00:00:00.010Z"),
        ("time-hour", "time", "2026-11-15T24:00:00.010Z"),
        ("time-leap", "time", "2026-11-15T23:59:60.010Z"),
        ("time-1969", "time", "1969-12-31T23:59:59.999Z"),
        ("ulid-lower", "actor", first["actor"].lower()),
        ("ulid-letter", "actor", first["actor"][:-1] + "U"),
        ("ulid-overflow", "actor", "8" + first["actor"][1:]),
        ("sequence-text", "sequence", "1"),
        ("sequence-negative", "sequence", -1),
        ("sequence-fraction", "sequence", 1.5),
        ("format-true", "format", True),
    ):
        export = bare()
        export.registry[1].envelope[field] = value
        about = f"The desk writes `{field}` of an envelope in a wrong form ({name})."
        family.fails(f"form-{name}", about, export.seal(), "SCHEMA_INVALID", 1)


def edit(family: Family, name: str, what: str, old: bytes, new: bytes, place: int = 2) -> None:
    """Adds a registry export in which the desk writes an event line with one difference and signs over it."""
    family.fails(name, f"The desk writes {what}.", _replace(bare(), old, new, place), "FILE_MALFORMED")


def later(content: dict[str, object]) -> Export:
    """Returns a run with content of a later type, event 1 on line 8."""
    run = Cast("later", TRIO).run()
    run.say("critic", "consent_asked", {}, content)
    return run.export()


def _replace(export: Export, old: bytes, new: bytes, place: int) -> bytes:
    def change(lines: Lines) -> Lines:
        at = next(i for i in range(place, len(lines)) if old in lines[i])
        head, _, tail = lines[at].rpartition(old) if old.endswith(b"\n") else lines[at].partition(old)
        return [*lines[:at], head + new + tail, *lines[at + 1 :]]

    return export.edited(change)
