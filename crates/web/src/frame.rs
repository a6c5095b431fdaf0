//! What stands around every page: who is signed in, where one is, and what the page needs to be live.

use demur_ledger::facts::Assurance;

use crate::{
    notice::policy_hash,
    words::{ENGLISH, Words},
};

/// The frame of a page.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The texts of the interface.
    pub words: &'static Words,
    /// Who is signed in; none on pages for strangers.
    pub visitor: Option<Visitor>,
    /// Which part of the inbox this is.
    pub here: Here,
}

/// Whoever is signed in, as far as pages show it.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// The name.
    pub name: String,
    /// `operator`, `answerer` or `auditor`.
    pub role: &'static str,
    /// Whether this one may answer, decline, extend and pass on.
    pub may_answer: bool,
    /// What every form that changes something carries; nothing where the script of the page keeps it.
    pub form_key: String,
    /// The digest of the key that the script of the page keeps, where it does.
    pub bound: Option<String>,
    /// Whether this one looks after people and tokens from here.
    pub administers: bool,
    /// How much of a question is shown at first.
    pub level: Level,
    /// Whether single letters act.
    pub keys: bool,
    /// How sure one can be of an act of this one that no passkey signed.
    pub assurance: Assurance,
    /// The credentials of this one's passkeys that sign on these pages; asked for only where a page depends on them.
    pub credentials: Vec<String>,
}

impl Visitor {
    /// Returns whether this one has a passkey that signs on these pages.
    pub fn has_passkey(&self) -> bool {
        !self.credentials.is_empty()
    }
}

/// A part of the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Here {
    /// Questions that wait for the reader.
    Mine,
    /// Questions that wait for others.
    Others,
    /// Questions that are settled.
    Done,
    /// Operations that wait for a yes or a no.
    Confirmations,
    /// Traces.
    Traces,
    /// Who may sign in, and which programs may call.
    People,
    /// How the inbox behaves.
    Settings,
    /// Anything else.
    Elsewhere,
}

/// How much of a question is shown at first (AEP-09).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// In a few words.
    Terse,
    /// The question.
    #[default]
    Normal,
    /// With why it is asked and what the answer affects.
    Detailed,
}

impl Level {
    /// Every level, with the least words first.
    pub const ALL: [Self; 3] = [Self::Terse, Self::Normal, Self::Detailed];

    /// Returns the word of it in forms and cookies.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Terse => "terse",
            Self::Normal => "normal",
            Self::Detailed => "detailed",
        }
    }
}

impl Frame {
    /// Returns the frame of a page for somebody.
    pub const fn new(here: Here, visitor: Option<Visitor>) -> Self {
        Self { words: &ENGLISH, visitor, here }
    }

    /// Returns whether this part is the one that is shown.
    pub fn is(&self, here: Here) -> bool {
        self.here == here
    }
}

/// Returns the one script that stands in pages: it puts the key of the session into a form that is sent. It needs nothing that
/// comes later.
pub(crate) const fn key_script() -> &'static str {
    KEY_SCRIPT
}

/// Returns the hash of that script, as a policy names it.
pub fn key_script_hash() -> String {
    policy_hash(KEY_SCRIPT)
}

const KEY_SCRIPT: &str = r#"function demurKey() {
const bound = document.body.dataset.bound;
try { return bound ? localStorage.getItem(`demur ${bound}`) || "" : ""; } catch { return ""; }
}
addEventListener("submit", (event) => {
const field = event.target.elements.form_key;
if (field && !field.value) field.value = demurKey();
}, true);"#;
