//! The longer texts of `--help` for identity messages.

pub(in crate::arguments) const IDENTITY_ABOUT: &str = "\
Sign and check the messages of the identity protocol, by which an agent tells others which key is its own: \
registration, rotation, revocation (docs/clarify.md, section 8).

These commands write and read documents; they make no key and change nothing here. Who may speak in this data folder \
is what `demur keys new`, `demur keys rotate` and `demur keys revoke` say, and only they change it. Keys come from the \
keyring; a secret is never printed.

A receiver takes a message within 60 seconds of its time: sign it when you send it.";

pub(in crate::arguments) const IDENTITY_EXAMPLES: &str = "\
Examples:
  demur keys new alice --role planner
  demur identity register alice --out alice.json
  demur identity verify alice.json
  demur identity revoke alice --reason retired --out end.json
  demur identity verify alice.json end.json

`demur --help` lists the exit codes.";

pub(in crate::arguments) const IDENTITY_REGISTER_ABOUT: &str = "\
Sign the message that binds a key to an agent, with that key, which shows that its owner has it.

The key has to be in the keyring: `demur keys new` makes one. The agent's name is the name of the key's holder, or \
what --agent-id says; it has no spaces. The key is said to be in use since it was registered here. Nothing is changed \
here.";

pub(in crate::arguments) const IDENTITY_REGISTER_EXAMPLES: &str = "\
Examples:
  demur identity register alice
  demur identity register alice --expires 2027-01-01T00:00:00Z --out alice.json
  demur identity register \"build robot\" --agent-id build-robot --did did:web:example.org
  demur identity register alice --json | jq -r .public_key

`demur --help` lists the exit codes.";

pub(in crate::arguments) const IDENTITY_ROTATE_ABOUT: &str = "\
Sign the message that replaces an agent's key by another. The old key signs it; the new key signs that it is in the \
same hands. Both have to be in the keyring.

Whoever receives it takes both keys for 24 hours, or until the old one ends by itself if that is sooner; after that \
only the new one. Meanwhile the identity rotates, and another rotation has to wait.

The agent's name stays what it was: the name of the old key's holder, or what --agent-id says. The keys of this data \
folder are not changed. `demur keys rotate` does that; after it, the old key is meant by its fingerprint and the new \
one by its name.";

pub(in crate::arguments) const IDENTITY_ROTATE_EXAMPLES: &str = "\
Examples:
  demur identity rotate alice --to alice-2
  demur identity rotate 9f86d081 --to alice --out rotation.json
  demur identity rotate alice --to alice-2 --json | jq -r .old_key_expires

`demur --help` lists the exit codes.";

pub(in crate::arguments) const IDENTITY_REVOKE_ABOUT: &str = "\
Sign the message that ends an agent's identity: all its keys, at once and for good.

It is signed with a key that is still valid. The registry of this data folder is not changed: `demur keys revoke` does \
that, and removes the secret. So sign this message first.";

pub(in crate::arguments) const IDENTITY_REVOKE_EXAMPLES: &str = "\
Examples:
  demur identity revoke alice --reason retired
  demur identity revoke 9f86d081 --reason compromised --out end.json

`demur --help` lists the exit codes.";

pub(in crate::arguments) const IDENTITY_NAME_ABOUT: &str = "\
Show or choose the name under which demur signs documents of plans: questions, audit records, attestations and packages. It \
is kept in the settings of the data folder. A session that was submitted before keeps the name that it began with. Whoever checks \
a document needs the key; the name is in what the key signed.";

pub(in crate::arguments) const IDENTITY_NAME_EXAMPLES: &str = "\
Examples:
  demur identity name
  demur identity name wwa-scaffold-v1.0.0
  demur identity name --built-in

`demur --help` lists the exit codes.";

pub(in crate::arguments) const IDENTITY_VERIFY_ABOUT: &str = "\
Check messages, and say what the identity is at a time: active, rotating or revoked. No data folder is needed.

Files that begin with a registration are an agent's history: every message is judged at its own time, in order. A \
registration is signed with the key it names, so it vouches for itself only; --key says which key it has to name.

With --identity the history comes from those files, and FILE is what arrived at the time of --at: a rotation, a \
revocation or a message of any other protocol, not more than 60 seconds from its own time.

With --key and files that do not begin with a registration, only the signatures are checked, with that key. Whether \
the key was valid is not known then, and no status is given.

A file holds one message in any layout, or one message on each line. What does not hold has one of these reasons: \
signature_mismatch, possession_mismatch (the new key did not sign), agent_mismatch, key_mismatch (not the key of \
--key), stale, revoked, expired, not_yet_valid, rotating (a rotation before the last one is over), key_reused, \
registered_twice, out_of_order.";

pub(in crate::arguments) const IDENTITY_VERIFY_EXAMPLES: &str = "\
Examples:
  demur identity verify alice.json
  demur identity verify alice.json rotation.json --at 2026-05-10T15:00:00Z
  demur identity verify alice.json --key ed25519:HEX
  demur identity verify message.json --identity alice.json
  demur identity register alice | demur identity verify - --json | jq -r .status

Exit codes: 0 all messages hold, and a key of the agent is valid at that time; 1 not so, the reason says why (also \
where all hold and the identity is revoked); 2 a file cannot be read as messages. `demur --help` lists the others.";
