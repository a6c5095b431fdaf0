#!/usr/bin/env python3
"""A second verifier of demur exports, written from docs/ and the JSON Schemas beside this file alone.
It makes the checks of docs/checks.md but those in UNCHECKED, line by line in the order of the table, and stops at the
first that fails: that is the code of the file. It gives no warnings; its "pass" says that nothing was altered, that
these keys said this, and that what it compares is equal. Exit status: 0 pass, 1 fail or not established, 2 no export."""

import argparse, base64, datetime, decimal, hashlib, json, operator, pathlib, re, sys
from contextlib import suppress
from typing import Any as Json, BinaryIO, NamedTuple
try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils
    from cryptography.hazmat.primitives.hashes import SHA256
except ImportError:
    sys.exit(print("verify.py: needs `cryptography` 38 or newer: apt install python3-cryptography", file=sys.stderr) or 2)

FOLDER = pathlib.Path(__file__).resolve().parent / "schemas"
LINE, ENVELOPE, RECEIPT = (json.loads((FOLDER / f"{it}.json").read_bytes()) for it in ("line", "envelope", "receipt"))
LINE["$defs"]["EventLine"]["properties"]["event"] = {}  # has a schema and a code of its own: ENVELOPE, SCHEMA_INVALID
KNOWN = {path.stem: json.loads(path.read_bytes()) for path in (FOLDER / "events").glob("*.json")}
UNKNOWN: Json = {"properties": {"content": {}, "facts": {}}, "proofs": ["ed25519", "none", "webauthn"]}
LINE_BYTES, CHECKED_BYTES, NEVER, STAMP = 64 << 20, 1 << 20, 1 << 53, "%Y-%m-%dT%H:%M:%S.%fZ"
# After which lines a line may stand; "due" is an event that records bytes, whose artifact must come next.
EVENTS, HEADS = ["event", "artifact"], ["head", "inclusion"]
AFTER = {"header": [""], "event": ["header", "head", *EVENTS], "artifact": ["due"], "head": EVENTS,
         "inclusion": EVENTS + HEADS, "checkpoint": EVENTS + HEADS}
# What the desk signs in the registry, or where the type takes a passkey an operator; as what the passkeys of whom speak.
GOVERNED = r"key_re(vok|tir)ed|checkpoint_recorded|store_restored|client_bound|token_\w+|person_\w+|passkey_reset"
SPEAKS = {"operator": ["person", "operator"], "answerer": ["person"]}
OWN = ["session_opened", "passkey_added", "passkey_removed"]  # what an auditor's passkey may say
RISKS, ROLES = "low medium high critical".split(), "planner executor critic auditor operator agent answerer".split()
SCOPES, ASSURANCES = "ask answer relay read operate metrics".split(), "agent relayed terminal signed_in passkey".split()
KINDS: Json = {"freetext": [str], "yes_no": [bool], "multiple_choice": [str], "numeric": [int, float], "secret": [dict]}
ROOTS = {"client": 1, "mail": 1, "same_user": 2, "passkey": 3, "link": 3}  # what each bears
ORIGIN, NUMBER = r"https?://([^:/]+)(:[0-9]+)?", r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"
QUOTES = r"(plan|gap|answer|paper|question_ans)\w* (paper|plan_att)"  # a type, and one that its erasure takes along
UNCHECKED = ["ROLE, ORDER, BLOCKED_AGAIN, RETRY_LIMIT, TOOL_BLOCKED: who may say and start what when, and what waits for what",
             "CLAIM, FINALIZATION: whether a claim is disputed or rests on lost bytes, and whether the trace ended",
             "PAPER_INVALID, FIELD_ANSWERED: what the desk signed about a plan, and whether a change keeps what was answered",
             "CLIENT_HELD_ROLES, OWN_CLIENT, ROOT_LATE: clients, unless policy or record say so, or none on record; who came first",
             "in part: ASSURANCE_OVERSTATED, whose question a token without people answers; REGISTRY_INVALID, a second erasure",
             "ORDER_RESTS_ON_DESK, EQUIVOCATION: when a revoked key spoke, what another file or the journal of sign-ins says"]
TYPES = {dict: ("object", "Properties"), list: ("array", "Items"), str: ("string", "Length"), int: ("integer", "imum"),
         bool: ("boolean", ""), type(None): ("null", ""), float: ("number", "")}  # how it is bounded: min..., max...

class Failure(ValueError): """Its arguments are a code and a message."""
def need(holds: object, code: str, message: str = "docs/checks.md says what the code means") -> None:
    if not holds: raise Failure(code, message)
def sha256(data: bytes) -> str: return hashlib.sha256(data).hexdigest()
def digest(purpose: str, data: Json) -> str: return sha256(prefixed(purpose, data))
def raw(public: str) -> str: return public.rpartition(":")[2]
def alike(*digests: Json) -> bool: return len({each for each in digests if each is not None}) < 2
def fingerprint(public: str) -> str:
    return digest("key", f"passkey\0{public}".encode() if ":" in public else b"ed25519\0" + bytes.fromhex(public))
def prefixed(purpose: str, data: Json) -> bytes:
    return f"demur/v1/{purpose}\0".encode() + (data if isinstance(data, bytes) else canonical(data))

def parse(data: bytes, code: str = "") -> Json:
    """Returns the value of JSON as format 1 reads it: where a refusal has a code, in canonical form only."""
    def once(pairs: Json) -> Json: return dict(pairs) if len(pairs) == len(dict(pairs)) else float("nan")
    with suppress(ValueError, RecursionError):
        value = json.loads(data.decode(), object_pairs_hook=once)
        if within(value, 40, 65_536) and (not code or canonical(value) == data): return value
    raise Failure(code, "expected canonical JSON within the limits")
def within(value: Json, depth: int, members: int, text: int = LINE_BYTES) -> bool:
    if isinstance(value, dict | list):
        inner = [*value, *(value.values() if isinstance(value, dict) else [])]
        return depth > 0 and len(value) <= members and all(within(each, depth - 1, members, text) for each in inner)
    if type(value) in (int, float):
        return abs(value) < 2**53 or type(value) is float and 1e21 <= abs(value) <= sys.float_info.max
    return not isinstance(value, str) or len(value.encode()) <= text
def canonical(value: Json) -> bytes:
    """Returns the RFC 8785 form. Python's doubles have ECMAScript's digits but take exponents elsewhere."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return b"{" + b",".join(canonical(name) + b":" + canonical(value[name]) for name in names) + b"}"
    if isinstance(value, list): return b"[" + b",".join(map(canonical, value)) + b"]"
    if isinstance(value, float) and (value == 0 or 1e-6 <= abs(value) < 1e21):
        return f"{decimal.Decimal(repr(abs(value) and value)).normalize():f}".encode()
    return (repr(value).replace("e-0", "e-") if isinstance(value, float) else json.dumps(value, ensure_ascii=False)).encode()

P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D, NEUTRAL = -121665 * pow(121666, -1, P) % P, (0, 1)
def decode(data: bytes) -> Json:
    """Returns a point of the curve as ZIP 215 decodes it."""
    sign, y = divmod(int.from_bytes(data, "little"), 2**255)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    roots = [pow(square, (P + 3) // 8, P) * factor % P for factor in (1, pow(2, (P - 1) // 4, P))]
    return next(((x if x % 2 == sign else -x % P, y % P) for x in roots if x * x % P == square), None)
def add(one: Json, two: Json) -> Json:
    (a, b), (c, d), product = one, two, D * one[0] * one[1] * two[0] * two[1] % P
    inverse = pow(1 - product * product, -1, P)
    return (a * d + b * c) * (1 - product) * inverse % P, (b * d + a * c) * (1 + product) * inverse % P
def times(scalar: int, point: Json) -> Json:
    rest = times(scalar // 2, add(point, point)) if scalar else NEUTRAL
    return add(rest, point) if scalar % 2 else rest
BASE = decode((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
def on_p256(public: str) -> Json: return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bytes.fromhex(public))
def may_be_key(public: str) -> bool:
    """Returns whether this is the canonical encoding of a point that a key may be, on its curve."""
    with suppress(ValueError):
        if public.startswith("es256:"): return bool(on_p256(raw(public)))
        y, point = int.from_bytes(bytes.fromhex(raw(public)), "little") % 2**255, decode(bytes.fromhex(raw(public)))
        return y < P and point not in (None, NEUTRAL) and times(ORDER, point) == NEUTRAL
    return False
def signature_holds(public: str, signature: str, message: bytes) -> bool:
    """Returns whether a signature holds. OpenSSL's yes to Ed25519 is a yes; its no is looked at again as ZIP 215 says."""
    key, signed, es256 = bytes.fromhex(raw(public)), bytes.fromhex(signature), public.startswith("es256:")
    with suppress(InvalidSignature, ValueError):
        if es256:
            pair = utils.encode_dss_signature(*(int.from_bytes(each, "big") for each in (signed[:32], signed[32:])))
            return on_p256(raw(public)).verify(pair, message, ec.ECDSA(SHA256())) is None
        return ed25519.Ed25519PublicKey.from_public_bytes(key).verify(signed, message) is None
    a, r, s = decode(key), decode(signed[:32]), int.from_bytes(signed[32:], "little")
    k = int.from_bytes(hashlib.sha512(signed[:32] + key + message).digest(), "little") % ORDER
    return bool(a and r and s < ORDER and not es256) and times(8 * s, BASE) == times(8, add(r, times(k, a)))
def touch_fault(touch: Json, passkey: Json, leaf: str, alone: object) -> str:
    """Returns the code for what is wrong with an assertion of an enrolled passkey over what has this leaf, if anything."""
    data, leaves, key = bytes.fromhex(touch["authenticator"]), touch["leaves"], passkey["key"]
    challenge = bytes.fromhex(leaves[0] if len(leaves) == 1 else digest("node", bytes.fromhex("".join(leaves))))
    said = {"type": "webauthn.get", "origin": passkey["origin"], "crossOrigin": False,
            "challenge": base64.urlsafe_b64encode(challenge).decode().rstrip("=")}
    flags = data[32] if len(data) == 37 or len(data) > 37 and data[32] & 0x80 else 0  # UP 1, UV 4, BE 8, BS 16, AT 64
    with suppress(ValueError, RecursionError, TypeError):
        text, rp = touch["client"].encode(), hashlib.sha256(passkey["rp"].encode()).digest()
        client, message = {"crossOrigin": False} | parse(text), data + hashlib.sha256(text).digest()
        fits = [leaf in leaves, len(set(leaves)) == len(leaves), len(leaves) == 1 or not alone, "topOrigin" not in client,
                touch["key"] == fingerprint(key), canonical(client) == canonical(client | said), data[:32] == rp,
                len(text) <= 4_096, within(client, 16, 1_024), flags & 69 == 5, bool(flags & 8) == passkey["eligible"]]
        if all(fits) and flags & 24 != 16: return "" if signature_holds(key, touch["signature"], message) else "SIG_INVALID"
    return "PASSKEY_INVALID"
def matches(value: Json, schema: Json, root: Json, cited: list[int]) -> bool:
    """Returns whether a value fits a JSON Schema, with the keywords the schemas use; gathers the sequences it cites."""
    def fits(inner: Json, rule: Json) -> bool: return matches(inner, rule, root, cited)
    if isinstance(schema, bool): return schema
    get, (name, bound) = schema.get, TYPES[type(value)]
    size = value if name == "integer" else len(value) if bound else 0
    fit = name in get("type", name) and get("const", value) == value
    fit = fit and get("min" + bound, -NEVER) <= size <= get("max" + bound, NEVER)
    fit = fit and all(sum(fits(value, each) for each in get(word, [True])) == 1 for word in ("oneOf", "anyOf"))
    if name == "object":
        fields, rest = get("properties", {}), get("additionalProperties", True)
        fit = fit and value.keys() >= {*get("required", [])} and all(
            fits(it, get("propertyNames", True)) and fits(value[it], fields.get(it, rest)) for it in value)
    fit = fit and (name != "array" or all(fits(item, get("items", True)) for item in value))
    fit = fit and (name != "string" or re.fullmatch(get("pattern", "(?s:.*)").removesuffix("$"), value) is not None)
    defined = get("$ref", "").removeprefix("#/$defs/")
    fit = fit and (not defined or fits(value, root["$defs"][defined]))
    cited += [value] if fit and defined == "Sequence" else []
    with suppress(ValueError):
        if defined == "Timestamp": return fit and datetime.datetime.strptime(value, STAMP).year >= 1970
        return fit and (defined not in ("PublicKey", "PasskeyKey") or may_be_key(value))
    return False
def agrees(kind: str, facts: Json, content: Json) -> bool:
    """Returns whether content has what it must have of its facts, by type; what is said in the clear is not sealed."""
    match kind:
        case "question_asked" | "gap_found":
            values, default = [each["value"] for each in content["choices"]], content["default"]
            kinds = [each for each in facts["kinds"] if type(default) in KINDS[each]]
            fit = kinds and (kinds != ["multiple_choice"] or default in values) if facts["default"] else default is None
            offers = [default, content["recommendation"], *content["suggestions"]]
            fit = fit and (offers == [None, None] if "secret" in facts["kinds"] else dict not in map(type, offers))
            return bool(fit) and facts["choices"] == len(values) == len(set(values))
        case "question_answered" | "answer_superseded":
            kind = facts.get("answer", facts)["kind"]
            return type(content["answer"]) in KINDS[kind] and (kind != "secret" or content["signed"] is None)
        case "answer_claimed" | "answer_rejected" | "question_defaulted": return dict not in map(type, content.values())
        case "proposal_reviewed": return len(content["conditions"]) == facts["conditions"]
        case "final_statement_signed": return [each["claim"] for each in content["claims"]] == facts["claims"]
        case "operation_started":  # a digest exactly with an operation, and both where there is a confirmation
            return (content["operation"] is None) == (content["digest"] is None) <= (facts["confirmation"] is None)
    return True
def is_true(data: bytes, check: Json, most: int = CHECKED_BYTES) -> bool:
    """Returns whether a check is true; one that cannot be evaluated is not."""
    with suppress(ValueError, LookupError, TypeError, RecursionError):
        at, value, found = check["at"], check["value"], None
        is_number = type(value) in (int, float)
        if isinstance(at, str): found = len(data) if at == "size" else sha256(data)
        elif len(data) > most: return False
        elif "pointer" in at:
            found, (root, *path) = parse(data), at["pointer"].split("/")
            for token in (each.replace("~1", "/").replace("~0", "~") for each in path):
                found = found[int(token) if isinstance(found, list) and re.fullmatch("0|[1-9][0-9]*", token) else token]
            need(not root, "CHECK_FAILED")
        else:
            text, first, last = data.decode(), data.decode().index(at["after"]), data.decode().rindex(at["after"])
            found, end, _ = text[first + len(at["after"]):].partition(at["before"])
            found = found.strip(" \t\r\n")
            need(first == last and end and (not is_number or re.fullmatch(NUMBER, found)), "CHECK_FAILED")
            found = float(found) if is_number else found
        if is_number and type(found) in (int, float): return bool(getattr(operator, check["is"])(float(found), value))
        return bool(check["is"] == ("eq" if type(found) is type(value) and found == value else "ne"))
    return False
Key = NamedTuple("Key", [("public", str), ("recovery", str), ("principal", str), ("roles", list[str]), ("since", int),
                         ("clients", dict[str, int]), ("enrolled", Json)])  # clients: since when; enrolled: of a passkey
Call = NamedTuple("Call", [("call", Json), ("command", list[str]), ("stdin", Json)])  # an input that names a program
class Trace:
    def __init__(self) -> None:
        self.name, self.pin, self.commands, self.shown = "", 0, set[tuple[str, str]](), list[list[str]]()
        self.positions, self.said = list[Json](), list[tuple[str, str]]()  # said: hash of the statement, time
    def has(self, at: Json) -> bool: return self.positions[at["sequence"]:at["sequence"] + 1] == [at]
class Verifier:
    def __init__(self) -> None:
        self.hasher, self.header = hashlib.sha256(prefixed("export", b"")), dict[str, Json]()
        self.registry, self.run, self.closed = Trace(), Trace(), False  # closed: the registry's head was read
        self.trace, self.after, self.commitment, self.schema = self.registry, "", "", UNKNOWN
        self.told, self.tools, self.bytes = list[Json](), None, dict[int, bytes]()  # bytes: of artifacts
        self.shown, self.asked = dict[Json, Json](), list[int]()  # shown: conditions, and the answers each rests on
        self.keys, self.known, self.rotated = dict[str, Key](), set[str](), set[str]()
        self.passkeys, self.people = dict[str, Key](), dict[str, dict[int, str]]()  # people: their roles, since when
        self.tokens, self.proof, self.now, self.desk = dict[str, Json](), "", "", ""  # proof: of this event, if it is known
        self.ended = dict[str, tuple[int, str]]()  # when a key was revoked or retired, and the code for using it later
        self.epochs, self.registered, self.doubts = list[int](), list[Json](), list[Json]()
        # Line and event; the first registry event nobody knows; whether passkeys ended, and their checkpoint comes next.
        self.place, self.later, self.owes = list[Json]([1, None]), NEVER, False
    def read(self, stream: BinaryIO) -> None:
        while raw := stream.readline(LINE_BYTES + 2):
            need(len(raw) <= LINE_BYTES + 1 and self.after != "checkpoint", "FILE_MALFORMED", "too long or too late")
            need(raw.endswith(b"\n"), "FILE_TRUNCATED", "the last line does not end with a line feed")
            line = parse(raw[:-1], "FILE_MALFORMED")
            kind, body = [*line.items()][0] if isinstance(line, dict) and len(line) == 1 else ("", {})
            need(self.after in AFTER.get(kind, []), "FILE_MALFORMED", f"the line {kind} is unknown or out of place")
            newer = isinstance(body, dict) and type(body.get("format")) is int and body["format"] != 1
            need(self.header or not newer, "FORMAT_NEWER", "this is not format 1; use a newer version")
            need(matches(line, LINE, LINE, []), "FILE_MALFORMED", f"the {kind} does not fit its schema")
            shown = {body[name] is not None for name in ("content", "bytes", "salt") if name in body}
            need(shown <= {body.get("disclosure") == "disclosed"}, "FILE_MALFORMED", "disclosure does not fit")
            need(self.after not in EVENTS or kind not in ("inclusion", "checkpoint"), "HEAD_INVALID", "a line without head")
            self.after, self.header = kind, self.header or body
            getattr(self, f"check_{kind}", dict)(body)  # the header is looked at with every event
            self.hasher.update(raw)
            self.place = [self.place[0] + 1, None]
        need(self.after == "checkpoint", "FILE_TRUNCATED", "the file ends before its checkpoint")
        need(not any("erased" in each for each in self.registry.shown + self.run.shown), "ERASURE_UNRECORDED")
    def doubt(self, code: str, message: str) -> None: self.doubts.append((code, message, *self.place))
    def check_event(self, line: Json) -> None:
        event, cited, trace, self.place[1] = line["event"], [-1], self.trace, len(self.trace.said)
        proof = event.get("proof") if isinstance(event, dict) else None
        (way, proof), = proof.items() if isinstance(proof, dict) and len(proof) == 1 else [(proof, {})]
        newer = isinstance(way, str) and re.fullmatch("[a-z][a-z0-9_]{0,63}", way) and way not in UNKNOWN["proofs"]
        need(matches(event | {"proof": "none"} if newer else event, ENVELOPE, ENVELOPE, []), "SCHEMA_INVALID")
        said = event["statement"] or event["record"] or {"type": "", "facts": {}}
        kind, name, facts, hash_ = said["type"], event["trace"], said["facts"], digest("envelope", event)
        self.proof, self.now, schema = "" if newer else way, event["time"], KNOWN.get(kind, UNKNOWN)
        fits = within(event, 16, 1_024, 32 << 10) and len(canonical(event)) <= 64 << 10
        fits = fits and matches(facts, schema["properties"]["facts"], schema, cited)
        need(fits, "SCHEMA_INVALID", f"this is no {kind} of format 1 within the limits")
        self.schema, self.registry.name, self.run.name = schema, self.registry.name or name, self.header["trace"]
        self.run = self.registry if self.run.name == self.registry.name else self.run
        need(not self.closed or name != self.registry.name, "FILE_MALFORMED", "the registry goes on after its head")
        need(self.closed or not name == self.run.name != self.registry.name, "HEAD_INVALID", "the registry has no head")
        self.check_statement(event, said, hash_, max(cited))
        last = [{"hash": None, "sequence": -1}, *trace.positions[-1:]][-1]
        need(event["sequence"] == last["sequence"] + 1 and event["previous"] == last["hash"], "CHAIN_BREAK")
        need(not trace.said or trace.said[-1][1] <= self.now, "TIME_BACKWARDS")
        signer = "" if newer else proof.get("key", "")
        key = self.check_registry(event, said, signer, proof)
        if key and self.proof == "webauthn":
            opening = [each["type"] for each in self.told[:1]]
            alone = not self.closed or opening == ["journal_opened"] or re.match("session_aborted|confirmation_", kind)
            need(not self.closed or self.registry.said[trace.pin][1] <= self.now, "PASSKEY_INVALID", "before its pin")
            need(not (fault := touch_fault(proof, key.enrolled, digest("passkey", said), alone)), fault, "no such touch")
        elif key: need(signature_holds(key.public, proof["signature"], prefixed("statement", said)), "SIG_INVALID")
        self.check_content(line, said, schema)
        need((signer, said.get("command")) not in trace.commands, "REPLAY_DUPLICATE")
        trace.commands |= {(signer, said["command"])} if signer else set()
        if self.closed:
            told = facts | (facts["answer"] if kind == "answer_superseded" else {}) | (line["content"] or {})
            self.check_meaning(kind, {} if schema is UNKNOWN else told, said["role"])
        trace.shown.append([kind, line["disclosure"]])
        gone = trace.shown[facts["event"] if kind == "content_erased" else NEVER:]
        for each in gone[:1] + [it for it in gone[1:] if re.match(QUOTES, f"{gone[0][0]} {it[0]}")]:
            need("disclosed" not in [each.pop() for _ in each[1:]], "NOT_ERASED")
        trace.positions.append({"hash": hash_, "sequence": event["sequence"]})
        trace.said.append((digest("statement", said) if signer else "", self.now))
    def check_statement(self, event: Json, said: Json, hash_: str, cited: int) -> None:
        sequence, opens, record, seen = event["sequence"], event["sequence"] == 0, event["record"], said.get("seen")
        first, before = opens and self.trace is self.registry, seen["sequence"] if seen else said.get("cause")
        takes = self.schema["proofs"] if self.closed else UNKNOWN["proofs"]  # in the registry this is a rule of format 7
        agree = [(event["statement"] is None) == (record is not None), (seen is None) == opens or record,
                 not self.proof or (self.proof == "none" if record else self.proof in takes and self.proof != "none"),
                 record or all(event[name] == said.get(name) for name in ("content", "store", "trace")),
                 (event["registry"] is None) == (event["store"] is None) == first, (event["previous"] is None) == opens,
                 event["trace"] == self.trace.name, (event["store"] or hash_) == self.header["store"],
                 before is None or before < sequence]
        need(all(agree), "STATEMENT_MISMATCH", "header, envelope, proof and statement or record do not fit together")
        need(seen is None or self.trace.has(seen), "SEEN_INVALID")
        need(cited <= (sequence - 1 if record else seen["sequence"] if seen else -1), "CITES_UNSEEN", f"event {cited}")
        need(record or event["time"] <= said["not_after"], "STATEMENT_EXPIRED")
    def speaking(self, at: int) -> dict[str, str]:  # the passkeys that may speak then, and whose they are
        return {each: key.principal for each, key in self.passkeys.items() if key.since <= at < self.ended.get(each, [NEVER])[0]}
    def role_of(self, person: str, at: int = NEVER) -> str:
        return ["", *(role for since, role in self.people.get(person, {}).items() if since <= at)][-1]
    def check_registry(self, event: Json, said: Json, signer: str, proof: Json) -> Key | None:
        """Returns the key that must have signed, if any, having made the checks of orders 5 and 6."""
        def check(holds: object, code: str) -> None: need(holds, "REGISTRY_INVALID" if home else code, f"fails with {code}")
        pin, home, kind = event["registry"], self.trace is self.registry, said["type"]
        fits, at = self.registry.has(pin) if pin else home, pin["sequence"] if pin else 0
        check(fits and at >= (len(self.epochs) - 1 if home else self.trace.pin), "REGISTRY_PIN")
        keys = self.passkeys if self.proof == "webauthn" else self.keys
        key = self.check_rules(event, said, signer, proof) if home else None
        self.trace.pin = at
        check(event["epoch"] == self.epochs[-1 if home else at], "EPOCH_MISMATCH")
        self.later = min(self.later, event["sequence"] if home and (self.schema is UNKNOWN or not self.proof) else NEVER)
        if not self.proof: return self.doubt("PROOF_UNKNOWN", "a later version knows who proves this")
        if self.schema is UNKNOWN and home or signer not in keys and not key and signer and self.later <= at:
            self.doubt("TYPE_UNKNOWN", "a later version knows what this did, or whose key it is")
            return keys.get(signer)
        if signer and not key:
            key, (end, code) = keys.get(signer), self.ended.get(signer, (NEVER, ""))
            check(key and key.since <= at, "KEY_UNKNOWN")
            check(end > at, code)
            acts = SPEAKS.get(self.role_of(key.principal, at), ["person"] if kind in OWN else []) if key else []
            check(key and said["role"] in (key.roles or acts), "KEY_ROLE_MISMATCH")
        principal = key.principal if key else self.desk
        names = [event["actor"], *([said["facts"]["person"]] if kind == "session_opened" and signer else [])]
        check({*names} == {principal} or home and not signer and kind != "content_erased", "ACTOR_MISMATCH")
        need(signer or "none" in self.schema["proofs"], "SIG_MISSING", f"{kind} needs a key")
        return key
    def check_rules(self, event: Json, said: Json, signer: str, proof: Json) -> Key | None:
        """Applies a registry event; returns the key that format 7 wants to have signed, if it says."""
        def check(*rules: object) -> None: need(all(rules), "REGISTRY_INVALID", f"{kind} breaks a rule of format 7")
        kind, facts, role, sequence = said["type"], said["facts"], said["role"], event["sequence"]
        epoch, name = (self.epochs or [1])[-1] + (kind == "store_restored"), str(facts.get("old", facts.get("key")))
        old, opens, touched, people = self.keys.get(name), kind == "store_created", self.proof == "webauthn", self.people
        speaking = self.speaking(sequence)
        person, owner, gone = facts.get("person", ""), speaking.get(signer, ""), list[str]()
        entered, signed, before = None, None, self.role_of(str(person))
        self.epochs.append(epoch)
        self.registered.append(said)
        self.desk = self.desk or facts.get("desk", "")
        check(opens == (sequence == 0), kind != "store_restored" or facts["epoch"] == epoch)
        if self.schema is UNKNOWN or not self.proof: return None
        governed = re.fullmatch(GOVERNED, kind) or kind == "content_erased" and not signer
        check(self.proof in ["none", *self.schema["proofs"]], not governed or role == ("operator" if touched else "desk"),
              not self.owes or kind == "checkpoint_recorded",
              not signer or old or kind not in ("key_rotated", "key_retired", "key_revoked", "client_bound"))
        if not signer: return None
        if kind in ("store_created", "key_registered"):
            principal, roles = facts["desk" if opens else "principal"], facts.get("roles", ["desk"])
            check(role == ("desk" if opens else "holder"), signer == fingerprint(facts["key"]), principal not in people,
                  opens or roles == [each for each in ROLES if each in roles] and principal != self.desk)
            signed = entered = Key(facts["key"], facts["recovery"] or "", principal, roles, sequence, {}, {})
        elif kind == "key_rotated" and old:
            recovers = old.recovery and signer == fingerprint(old.recovery)
            signed = old._replace(public=old.recovery) if recovers else old
            claim = {"command": said["command"], "key": facts["key"], "old": name, "store": said["store"]}
            check(signer == name and name not in self.rotated | self.ended.keys() or recovers,
                  role == ("desk" if old.roles == ["desk"] else "holder"),
                  signature_holds(facts["key"], facts["possession"], prefixed("possession", claim)))
            entered = old._replace(public=facts["key"], recovery=facts["recovery"] or "", since=sequence)
            self.rotated.add(name)
        elif kind in ("key_retired", "key_revoked"):
            desks = [each for each, key in self.keys.items() if key.roles == ["desk"] and each not in self.ended]
            cited, revoked = self.registered[facts.get("rotation", 0)], kind == "key_revoked"
            check(desks != [name], revoked or cited["facts"].get("old") == name,
                  self.ended.get(name, (0, ""))[1] in ("", "KEY_RETIRED" if revoked else ""))
            self.ended.setdefault(name, (sequence, kind.upper()))
        elif kind == "client_bound" and old:
            check(facts["client"] not in old.clients, name not in self.ended)
            self.keys[name] = old._replace(clients=old.clients | {facts["client"]: sequence if old.clients else 0})
        elif kind in ("token_made", "token_revoked"):
            scopes, named = facts.get("scopes", []), facts.get("people") or []
            token, made = self.tokens.get(facts["token"], {"revoked": None}), kind == "token_made"
            check(token["revoked"] == (None if made else NEVER),
                  scopes == [each for each in SCOPES if each in scopes], named == sorted(set(named)))
            self.tokens[facts["token"]] = {"made": sequence} | token | facts | {"revoked": NEVER if made else sequence}
        elif kind in ("person_added", "person_changed", "person_removed"):
            governs = self.passkeys and "operator" in (before, facts.get("role")) or person in speaking.values()
            check(person not in people if kind == "person_added" else before, touched or not governs,
                  person not in {key.principal for key in self.keys.values()})
            people.setdefault(person, {})[sequence] = facts.get("role", "")
            gone = [each for each, whose in speaking.items() if whose == person and kind == "person_removed"]
        elif kind == "passkey_removed":
            check(name in speaking, owner == speaking.get(name) or self.role_of(owner) == "operator")
            gone = [name]
        elif "credential" in facts:
            entered, host = Key(name, "", person, [], sequence, {}, facts), re.fullmatch(ORIGIN, facts["origin"])
            shows, claim = facts.get("possession", proof), {"key": name, "person": person, "store": said["store"]}
            flags = [bool(each & bit) for each in bytes.fromhex(shows.get("authenticator", ""))[32:33] for bit in (8, 16)]
            check(host and host[1] == facts["rp"], flags == [facts["eligible"], facts["synced"]], before,
                  shows is proof or not touch_fault(shows, facts, digest("enrolment", claim), True))
            reset, desks = kind == "passkey_reset", [key for key in self.keys.values() if key.roles == ["desk"]]
            vouched = owner == person if person in speaking.values() else self.role_of(owner) == "operator"
            if kind == "passkey_added": check(vouched)
            else:
                signed = desks[-1]._replace(public=desks[-1].recovery) if reset and desks else entered
                check(before == "operator", signer == fingerprint(signed.public or "00"), reset or not self.passkeys,
                      role in (["desk"] if reset else SPEAKS["operator"]))
            gone = [*speaking] if reset else []
        self.ended, self.owes = self.ended | {each: (sequence, "KEY_REVOKED") for each in gone}, bool(gone)
        if entered:
            keys = [raw(each.public) for each in (entered, *self.keys.values(), *self.passkeys.values())]
            check(raw(entered.public) not in self.known, entered.recovery not in keys)
            self.known |= {raw(entered.public), entered.recovery}
            (self.passkeys if entered.enrolled else self.keys)[fingerprint(entered.public)] = entered
        check(not self.passkeys or "operator" in map(self.role_of, self.speaking(sequence).values()))
        return signed
    def check_content(self, line: Json, said: Json, schema: Json) -> None:
        commitment, content, kind, facts = line["event"]["content"], line["content"], said["type"], said["facts"]
        rule, absent, data = schema["properties"]["content"], line["disclosure"] == "absent", canonical(content)
        fits = (commitment is None) == absent == (rule["$ref"].endswith("/NoContent") if rule else absent)
        opens = content is None or digest("content", bytes.fromhex(line["salt"]) + data) == commitment
        need(fits and opens, "COMMITMENT_MISMATCH")
        if schema is UNKNOWN: self.doubt("TYPE_UNKNOWN", f"{kind} comes from a later version")
        if content is not None:
            cited, seen = [-1], (said.get("seen") or {"sequence": -1})["sequence"]
            fits = within(content, 32, 16_384) and len(data) <= 1 << 20 and matches(content, rule, schema, cited)
            need(kind != "plan_confirmed" or max(cited) <= seen, "CITES_UNSEEN", "a source that the author had not seen")
            need(fits and agrees(kind, facts, content), "CONTENT_INVALID", "does not fit its schema or contradicts the facts")
        elif commitment and self.closed: self.doubt("NOT_DISCLOSED", f"the content is {line['disclosure']}")
        if kind in ("artifact_recorded", "report_recorded"): self.after, self.commitment = "due", facts["commitment"]
    def settled(self, questions: Json) -> Json: return {at: self.told[at].get("settled") for at in questions}
    def rule(self, intent: Json) -> Json: return (self.tools or {}).get(intent.get("tool"), {})
    def check_meaning(self, kind: str, event: Json, role: str) -> None:
        """Makes the checks of MEANING that need no state machine, where what they compare is disclosed."""
        told, place, tools = self.told, event.get("question", event.get("confirmation")), self.tools
        call = {"input": event["input_hash"], "tool": event["tool"]} if "input_hash" in event else None
        told.append(event | {"type": kind, "call": call and sha256(canonical(call))})
        asked = told[place["sequence"] if isinstance(place, dict) else place] if place is not None else dict[str, Json]()
        base = told[event["started"]] if "started" in event else told[event["about"]] if event.get("about") else asked
        found = sha256(canonical(event["operation"])) if isinstance(event.get("operation"), dict) else None
        need(alike(found, event.get("digest"), base.get("digest"), base.get("call")), "CONFIRMATION_MISMATCH")
        self.check_attribution(kind, event, asked, role)
        if re.match("question_(answ|def)|answer_(sup|rev)|gap_acc", kind):
            asked["settled"] = None if kind == "answer_revoked" else len(told) - 1
        if kind in ("question_answered", "answer_superseded") and "request" in event and "wording" in asked:
            values, choice = [each["value"] for each in asked["choices"]], event["choice"]
            fits = choice is None or values[choice:choice + 1] == [event["answer"]]
            need(fits and event["request"] == asked["request"], "CONTENT_INVALID", "not what the question offers")
        elif kind == "question_defaulted" and "default" in event and "wording" in asked:
            need(canonical(event["default"]) == canonical(asked["default"]), "CONTENT_INVALID", "another default")
        elif kind == "answer_rejected" and event.get("answer") is not None:
            need("secret" not in asked.get("kinds", []), "CONTENT_INVALID", "a secret in the clear")
        elif kind == "question_escalated": asked["assurance"] = event["assurance"]
        elif kind == "policy_recorded" and "document" in event:
            self.tools = event["document"]["tools"]
            need(told[0].get("policy", {}).items() <= event["document"].items(), "POLICY_MISMATCH")
            spoke = {(client, each["role"] in ("critic", "auditor")) for each in told[0].get("participants", [])
                     for key in self.keys.values() if key.principal == each["principal"]  # the desk is no client
                     for client, since in key.clients.items() if since <= self.trace.pin and client != self.desk}
            apart = len(spoke) == len({client for client, _ in spoke})  # none works and judges
            need(apart or not event["document"]["distinct_clients"], "CLIENT_HELD_ROLES")
        elif kind == "tool_intent_signed" and "tool" in event:
            need(event["tool"] in told[event["proposal"]].get("required_tools", [event["tool"]]), "TOOL_NOT_PROPOSED")
            need(tools is None or event["tool"] in tools, "TOOL_NOT_ALLOWED")
            need(not tools or RISKS.index(event["risk"]) >= RISKS.index(self.rule(event)["risk"]), "RISK_UNDERSTATED")
        elif kind == "tool_execution_started":
            intent, data = told[event["intent"]], self.bytes.get(event["input"])
            same = data is None or alike(intent.get("input_hash"), sha256(data))
            need(event["input"] is not None and same, "INPUT_MISMATCH")
            program, allowed = None, self.rule(intent).get("programs")
            with suppress(Exception): program = Call(**parse((data or b"")[:CHECKED_BYTES + 1], "-")).command.copy()[0]
            need(program is None or allowed is None or program in (allowed or [intent["tool"]]), "TOOL_NOT_ALLOWED")
            shown = [self.shown.get((event["intent"], each)) for each in intent.get("meets", [])]
            need(None not in shown and shown == [*map(self.settled, shown)], "CONDITION_UNSHOWN")
            about = [at for at in self.asked if told[at]["about"] == event["intent"]]
            self.check_confirmed(about[0] if about else None, intent["call"])
            need(not self.rule(intent).get("confirm") or about and told[about[0]]["given"] != "agent", "OPERATION_UNCONFIRMED")
        elif "outputs" in event: need(min([*event["outputs"], NEVER]) > event["started"], "EVIDENCE_WEAK")
        elif kind == "condition_judged":
            on = self.settled(at for at in event["evidence"] if told[at]["type"] == "question_asked")
            need(not event["holds"] or None not in on.values(), "CONDITION_UNSHOWN")
            self.shown[event["intent"], event["condition"]] = on if event["holds"] else None
        elif kind == "check_stated":
            data = self.bytes.get(event["artifact"])
            true = data is None or "at" not in event or is_true(data, event)
            need(true or role == "critic" or "about_failure" not in told[event["about"]], "CHECK_FAILED")
            self.shown |= {(event["about"], event["condition"]): {}} if true and role == "critic" else {}
        elif kind in ("claim_issued", "claim_revised"):
            ends = [told[each] for each in event["executions"]]
            results = {each for end in ends for each in end.get("outputs", [])}
            results |= {told[end["started"]].get("input") for end in ends if event["about_failure"] and "started" in end}
            distinct = {self.bytes.get(each, each) for each in event["evidence"]}
            enough = len(distinct) >= told[0].get("policy", {}).get("evidence_minimum", 0)
            need(enough and results.issuperset(event["evidence"]), "EVIDENCE_WEAK")
        elif kind == "final_statement_signed":
            bundle = [(each["claim"], each["text"]) for each in event["claims"] if isinstance(each, dict)]
            need(all(told[claim].get("text", text) == text for claim, text in bundle), "BUNDLE_DIFFERS")
        elif kind in ("question_asked", "confirmation_asked"):
            need(role == "auditor" or "final_statement_signed" not in [each["type"] for each in told], "SPOKE_AFTER_FINAL")
            own = kind == "confirmation_asked" and role not in ("critic", "desk")
            need(not own or not self.rule(base).get("confirm"), "OPERATION_UNCONFIRMED")
            self.asked += [len(told) - 1] if kind == "confirmation_asked" else []
        elif kind in ("confirmation_given", "confirmation_refused"):  # the words that asked may be gone
            asked["digest"] = asked.get("digest") or event.get("digest")
            asked["given"] = kind == "confirmation_given" and event["assurance"]
        elif kind == "operation_started":  # its operation is null where it tells nothing; where that is withheld, a name
            need(event["operation"] is not None or not self.asked, "OPERATION_UNCONFIRMED")
            self.check_confirmed(event["confirmation"], found)
        elif kind == "verification_run_completed" and "report" in event:
            reports = [self.bytes.get(at) for at, each in enumerate(told) if each["type"] == "report_recorded"]
            known = {sha256(each): each for each in reports if each is not None}
            named, same = known.get(event["report"]), {"at": {"pointer": "/status"}, "is": "eq", "value": event["status"]}
            need(None in reports if named is None else is_true(named, same, LINE_BYTES), "REPORT_MISMATCH")
    def check_confirmed(self, at: int | None, found: str | None) -> None:
        """Checks that what somebody was asked to confirm starts on a yes, once."""
        same = [each for each in self.asked if found and self.told[each].get("digest") == found]
        for asked in (self.told[each] for each in ([at] if at in self.asked else same[-1:] if at is None else [])):
            need(asked.get("given"), "OPERATION_UNCONFIRMED")
            need("spent" not in asked, "CONFIRMATION_SPENT")
            need(at is not None, "OPERATION_UNCONFIRMED")
            asked["spent"] = True
            need(alike(found, asked.get("digest")), "CONFIRMATION_MISMATCH")
    def check_attribution(self, kind: str, event: Json, asked: Json, role: str) -> None:
        """Checks that a recorded act of a person says how it came, and claims no more than that is worth."""
        way, words = event.get("attribution"), [ASSURANCES.index(each.get("assurance", "agent")) for each in (event, asked)]
        if "attribution" in event and self.proof:
            need("assurance" not in event or (words[0] == 4) == (self.proof == "webauthn"), "ORDER_VIOLATION")
            recorded = self.proof == "none" and role in ("person", "operator")
            need((way is not None) == recorded and (not way or words[0] <= ROOTS[way["root"]]), "ASSURANCE_OVERSTATED")
        if not way: return
        pin, whose, token = self.trace.pin, way["person"], self.tokens.get(way["token"])
        form = (way["door"], way["root"]) == ("mcp", "client") and "confirmation" not in event and max(words) <= ROOTS["client"]
        need(form or not (way["own"] and asked), "OWN_CLIENT")
        holders, opens = self.speaking(pin).values(), kind == "session_opened"
        told = [way["door"] in ("page", "http"), whose, whose in holders if way["root"] == "passkey" else holders]
        told += [way["root"] == "link", event["by"], whose == event["person"]] if opens else [way["session"]]
        need(way["root"] not in ("passkey", "link") or all(told), "ASSURANCE_OVERSTATED")
        good = token and token["made"] <= pin < token["revoked"] and self.now < (token["expires"] or "A")
        relays = token and "relay" in token["scopes"] and (token["people"] is None or whose in token["people"])
        fits = good and token["client"] == way["client"] and (relays or kind in ("session_aborted", "plan_withdrawn"))
        need(fits or not way["token"], "ASSURANCE_OVERSTATED")
    def check_artifact(self, line: Json) -> None:
        self.place[1], data, how = len(self.trace.said) - 1, b"", line["disclosure"]
        need(line["event"] == self.place[1] and how != "absent", "FILE_MALFORMED", "not the artifact due")
        need(how != "missing", "ARTIFACT_MISSING")
        self.trace.shown[-1].append(how)
        if how != "disclosed": return self.doubt("NOT_DISCLOSED", f"the artifact is {how}")
        with suppress(ValueError): data = base64.b64decode(line["bytes"], validate=True)
        need(base64.b64encode(data).decode() == line["bytes"], "FILE_MALFORMED", "the bytes are not padded base64")
        need(digest("artifact", bytes.fromhex(line["salt"]) + data) == self.commitment, "ARTIFACT_HASH_MISMATCH")
        self.bytes[line["event"]] = data
    def check_head(self, head: Json) -> None:
        self.check_desk("head", head, "HEAD_INVALID", trace=self.trace.name, head=self.trace.positions[-1])
        # After the registry's head only the trace may follow, or where the registry is the trace no event.
        self.after = self.after if self.closed else "inclusion" if self.run is self.registry else "header"
        self.closed, self.trace = True, self.run
    def check_inclusion(self, line: Json) -> None:
        leaf, index, node = line["leaf"], line["index"], digest("leaf", line["leaf"])
        recorded = (self.registered[line["registry"]:line["registry"] + 1] or [{"type": ""}])[0]
        last = (recorded["facts"]["traces"] if recorded["type"] in ("key_revoked", "checkpoint_recorded") else 0) - 1
        fits = leaf["trace"] == self.run.name and self.run.has({"hash": leaf["head"], "sequence": leaf["length"] - 1})
        need(fits and index <= last, "INCLUSION_INVALID", "the leaf is not of this trace, or there is no such root")
        for beside in line["path"]:
            right = index % 2 or index == last
            node = digest("node", bytes.fromhex(beside + node if right else node + beside))
            while right and index % 2 == 0 and index: index, last = index // 2, last // 2
            index, last = index // 2, last // 2 if last else -1
        need(last == 0 and node == recorded["facts"]["root"], "INCLUSION_INVALID")
    def check_checkpoint(self, checkpoint: Json) -> None:
        need(all(checkpoint["document"][name] == self.header[name] for name in ("store", "trace")), "STATEMENT_MISMATCH")
        self.check_desk("checkpoint", checkpoint, "CHECKPOINT_INVALID", bytes=self.hasher.hexdigest(),
                        head=self.run.positions[-1], registry=self.registry.positions[-1])
    def check_desk(self, purpose: str, signed: Json, code: str, **expected: Json) -> None:
        document, name, at = signed["document"], signed["proof"]["key"], signed["document"]["registry"]["sequence"]
        need(self.registry.has(document["registry"]), code, f"the {purpose} pins an event that is not in the registry")
        expected |= {"epoch": self.epochs[at], "store": self.header["store"]}
        need(document | expected == document, code, f"expected a {purpose} with {expected}")
        key = self.keys.get(name)
        holds = key and key.roles == ["desk"] and key.since <= at < self.ended.get(name, (NEVER, ""))[0] and (
            signature_holds(key.public, signed["proof"]["signature"], prefixed(purpose, document)))
        need(holds, code, f"the {purpose} is not signed by a desk key that may speak")
    def check_anchors(self, receipts: list[BinaryIO], pins: list[str], heads: list[str]) -> None:
        self.place = [None, None]
        for receipt in receipts:
            signed = parse(receipt.read().removesuffix(b"\n"), "RECEIPT_MISMATCH")
            need(matches(signed, RECEIPT, RECEIPT, []) and self.run.has(signed["document"]["event"]), "RECEIPT_MISMATCH")
            statement, time = self.run.said[signed["document"]["event"]["sequence"]]
            need(signed["document"] | {"statement": statement, "time": time} == signed["document"], "RECEIPT_MISMATCH")
            if signed["document"]["registry"]["sequence"] < len(self.registry.positions):
                self.check_desk("receipt", signed, "RECEIPT_MISMATCH", trace=self.run.name)
            else: self.doubt("RECEIPT_NEWER", "the receipt was given after the registry in the file ends")
        for name, _, pinned in (pin.rpartition("=") for pin in pins):
            key = self.keys.get(pinned, self.passkeys.get(pinned))
            need(key and (key.roles == ["desk"]) == (name == "desk"), "PIN_MISMATCH", f"{name} has no such key")
        known = {text for trail in (self.run, self.registry) for at in trail.positions
                 for text in (at["hash"], f"{at['sequence']}:{at['hash']}")}
        need(known.issuperset(heads), "AGAINST_MISMATCH", "neither trace nor registry has such an event")

def main() -> int:
    parser = argparse.ArgumentParser(description="Verifies the integrity of a demur export.")
    parser.add_argument("file", type=argparse.FileType("rb"), help="the export; - for standard input")
    parser.add_argument("--receipt", action="append", default=[], type=argparse.FileType("rb"), help="of an event")
    for name, form, about in (("--pin", "NAME=FINGERPRINT", "a key"), ("--against", "[SEQUENCE:]HASH", "an event")):
        parser.add_argument(name, action="append", default=[], metavar=form, help=f"{about} you know")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options, verifier, verdict = parser.parse_args(), Verifier(), "fail"
    try:
        verifier.read(options.file)
        verifier.check_anchors(options.receipt, options.pin, options.against)
        verdict = "not_established" if verifier.doubts else "pass"
        code, message, line, event = (verifier.doubts or [(None, "every check passed", None, None)])[0]
    except Failure as failure:
        (code, message), (line, event) = failure.args, verifier.place
    result = dict(verdict=verdict, code=code, line=line, event=event, message=message, unchecked=UNCHECKED)
    said = [f"{verdict} {code or ''} line {line} event {event}: {message}", *(f"not checked: {it}" for it in UNCHECKED)]
    print(json.dumps(result) if options.json else "\n".join(said))
    return 0 if verdict == "pass" else 2 if line == 1 else 1
if __name__ == "__main__": raise SystemExit(main())
