//! What `demur passkey --help` says.

pub(in crate::arguments) const PASSKEY_ABOUT: &str = "\
Say who can prove an answer

A passkey lives in a phone, a computer or a security key, and signs when its owner touches it. An answer signed so is \
proven: no program of this machine can make it up, and anybody can verify it from an export. Passkeys are added, used \
and removed in the browser (Settings, then Passkeys); here is what needs the terminal of the server.

Nobody vouches for the first passkey: add it before any agent is connected, and note its fingerprint.";

pub(in crate::arguments) const PASSKEY_EXAMPLES: &str = "\
Examples:
  demur open                    signs a browser in; shows a setup code while there is no passkey
  demur passkey code            a new setup code
  demur passkey list
  demur passkey reset 3fa9c1 --recovery /media/stick/desk.key

See also: demur open, demur people, demur verify --pin";

pub(in crate::arguments) const PASSKEY_CODE_ABOUT: &str = "\
Make the code for the first passkey of this server

The page asks for it, so that nobody adds the first passkey who has no access to this terminal. It works \
once, for ten minutes, and five wrong tries end it. Later passkeys need no code: an earlier passkey vouches for them.";

pub(in crate::arguments) const PASSKEY_CODE_EXAMPLES: &str = "\
Examples:
  demur passkey code
  demur passkey code --json

See also: demur open";

pub(in crate::arguments) const PASSKEY_LIST_EXAMPLES: &str = "\
Examples:
  demur passkey list
  demur passkey list --json | jq -r '.passkeys[].key'

See also: demur verify --pin";

pub(in crate::arguments) const PASSKEY_RESET_ABOUT: &str = "\
End all passkeys but a new one, with the recovery key

For an operator who has lost every passkey. First add the new one in the browser: it waits, because nobody can \
vouch for it. Then sign for it here with the recovery key of the server's own key: `demur keys rotate desk --recovery \
FILE` makes one while all is well. All other passkeys end, and the record says why.";

pub(in crate::arguments) const PASSKEY_RESET_EXAMPLES: &str = "\
Examples:
  demur passkey list
  demur passkey reset 3fa9c1 --recovery /media/stick/desk.key

See also: demur keys rotate";
