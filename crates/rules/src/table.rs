//! The tables of a rule pack: facts and wordings as rows (CLR-16). `docs/rules.md` describes each column.

mod check;
mod kind;

use std::collections::BTreeMap;

use demur_clarify::{
    gap::Severity,
    name::{FieldPath, Operation},
};
use demur_core::limit::{List, Text};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    error::Mistake,
    name::{FieldPattern, RowId},
    wording::Word,
};

pub(crate) use self::kind::OwnAnswers;
pub use self::kind::{Assurance, Kind};

/// A question as a template.
pub(crate) type Question = Text<1, 1000>;
/// A context as a template.
pub(crate) type Context = Text<0, 2000>;
/// A name that people write.
pub(crate) type Name = Text<1, 100>;
/// A short value: a suggestion, a choice, a phrase.
pub(crate) type Short = Text<1, 100>;
/// Some of them.
pub(crate) type Shorts = List<Short, 0, 32>;
/// The operations that a gap blocks.
pub(crate) type Operations = List<Operation, 0, 32>;

/// A row of a table.
pub(crate) trait Row: Serialize + DeserializeOwned + Clone {
    /// The name of its table in a file.
    const TABLE: &'static str;

    /// Returns its key.
    fn id(&self) -> &RowId;

    /// Returns whether it makes sense by itself.
    fn check(&self) -> Result<(), Mistake>;

    /// Returns the table it belongs to.
    fn rows(tables: &Tables) -> &Table<Self>;

    /// Returns the table it belongs to, to be changed.
    fn table(tables: &mut Tables) -> &mut Table<Self>;
}

/// Rows by their id.
pub(crate) type Table<R> = BTreeMap<RowId, Entry<R>>;

/// A row and the pack it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry<R> {
    pub(crate) pack: Name,
    pub(crate) row: R,
}

/// All tables, layered: what is hashed, stored and read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tables {
    pub(crate) format: String,
    pub(crate) cldr: String,
    pub(crate) packs: Vec<PackName>,
    pub(crate) settings: Settings,
    pub(crate) wording: BTreeMap<Word, Question>,
    pub(crate) unread: Unread,
    pub(crate) jurisdictions: Table<Jurisdiction>,
    pub(crate) standards: Table<Standard>,
    pub(crate) targets: Table<Target>,
    pub(crate) bundles: Table<Bundle>,
    pub(crate) languages: Table<Language>,
    pub(crate) required: Table<Required>,
    pub(crate) ambiguous: Table<Ambiguous>,
    pub(crate) overlaps: Table<Overlap>,
    pub(crate) conflicts: Table<Conflict>,
    pub(crate) policies: Table<Policy>,
}

/// A pack by name and version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackName {
    /// Its name.
    pub name: Text<1, 100>,
    /// Its version, as its writer counts.
    pub version: Text<1, 100>,
}

/// Where a plan keeps what, and what holds where a row says nothing. Left out: as in the packs below.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    /// The fields that name standards and bundles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) standards: Option<List<FieldPath, 0, 8>>,
    /// The fields that name deployment targets and design systems.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) targets: Option<List<FieldPath, 0, 8>>,
    /// The field that says which jurisdiction applies where a standard and a target are of different ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) jurisdiction: Option<FieldPath>,
    /// The field that names languages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) languages: Option<FieldPath>,
    /// The field that says the direction of the layout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) direction: Option<FieldPath>,
    /// Its values that suit a language written from right to left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) right_to_left: Option<List<Short, 1, 32>>,
    /// Fields that are lists: an answer is split at its commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lists: Option<List<FieldPath, 0, 64>>,
    /// What a BLOCK gap blocks where its row does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocks: Option<Operations>,
    /// Which gaps whoever submitted the plan may settle; none: no gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) own_answers: Option<OwnAnswers>,
    /// How severe a standard is that no row names; none: it is no gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unknown_standard: Option<Severity>,
    /// The same for a target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unknown_target: Option<Severity>,
}

/// What is said about fields that no rule reads. Packs add to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Unread {
    /// Fields that nobody is asked about, however much their names resemble those of fields that are read.
    pub(crate) except: List<FieldPattern, 0, 256>,
}

/// A place whose law or rules a standard or a target is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Jurisdiction {
    pub(crate) id: RowId,
    pub(crate) name: Name,
    /// The larger ones that it lies in.
    #[serde(default)]
    pub(crate) within: List<RowId, 0, 8>,
}

/// A standard that a plan can be held to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Standard {
    pub(crate) id: RowId,
    pub(crate) name: Name,
    /// The name with whose it is, for questions; otherwise the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<Name>,
    #[serde(default)]
    pub(crate) aliases: List<Name, 0, 64>,
    #[serde(default)]
    pub(crate) jurisdictions: List<RowId, 0, 32>,
}

/// A deployment target or design system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Target {
    pub(crate) id: RowId,
    pub(crate) name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<Name>,
    #[serde(default)]
    pub(crate) aliases: List<Name, 0, 64>,
    #[serde(default)]
    pub(crate) jurisdictions: List<RowId, 0, 32>,
}

/// A name for several standards that were put together on purpose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bundle {
    pub(crate) id: RowId,
    pub(crate) name: Name,
    #[serde(default)]
    pub(crate) aliases: List<Name, 0, 64>,
    pub(crate) standards: List<RowId, 1, 128>,
}

/// A language that is supported; `en` supports `en-gb`, `en-gb` only itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Language {
    /// Its tag in lower case.
    pub(crate) id: RowId,
    pub(crate) name: Name,
    #[serde(default)]
    pub(crate) aliases: List<Name, 0, 64>,
}

/// A field that a plan must have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Required {
    pub(crate) id: RowId,
    pub(crate) field: FieldPath,
    /// Only where each of these fields has one of these values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) when: BTreeMap<FieldPath, List<Short, 1, 64>>,
    #[serde(default = "block")]
    pub(crate) severity: Severity,
    pub(crate) question: Question,
    #[serde(default = "nothing")]
    pub(crate) context: Context,
    #[serde(default)]
    pub(crate) suggestions: Shorts,
    /// The only values allowed; none: any.
    #[serde(default)]
    pub(crate) choices: Shorts,
    #[serde(default)]
    pub(crate) kinds: List<Kind, 0, 5>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) blocks: Option<Operations>,
    #[serde(default)]
    pub(crate) assurance: Assurance,
}

/// Phrases that name nothing, and the fields in which they do so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ambiguous {
    pub(crate) id: RowId,
    pub(crate) phrases: List<Short, 1, 256>,
    /// Words that may stand before a phrase, such as `use`.
    #[serde(default)]
    pub(crate) leading: Shorts,
    /// Words that may stand after one, such as `please`.
    #[serde(default, skip_serializing_if = "is_none")]
    pub(crate) trailing: Shorts,
    pub(crate) fields: List<FieldPattern, 1, 64>,
    /// Fields that are prose.
    #[serde(default)]
    pub(crate) except: List<FieldPattern, 0, 64>,
    #[serde(default = "block")]
    pub(crate) severity: Severity,
    pub(crate) question: Question,
    #[serde(default = "nothing")]
    pub(crate) context: Context,
    #[serde(default)]
    pub(crate) suggestions: Shorts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) blocks: Option<Operations>,
    #[serde(default)]
    pub(crate) assurance: Assurance,
}

/// A standard that covers another, wholly or in part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Overlap {
    pub(crate) id: RowId,
    pub(crate) from: RowId,
    pub(crate) to: RowId,
    pub(crate) kind: Coverage,
    /// Whether somebody has to confirm it; otherwise it is a fact that conditions can read.
    #[serde(default = "yes")]
    pub(crate) confirm: bool,
    /// Where the confirmation stands in a plan, as a template.
    pub(crate) field: Text<1, 200>,
    #[serde(default = "warn")]
    pub(crate) severity: Severity,
    pub(crate) question: Question,
    #[serde(default = "nothing")]
    pub(crate) context: Context,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) blocks: Option<Operations>,
    #[serde(default)]
    pub(crate) assurance: Assurance,
}

/// How far a standard covers another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Coverage {
    Covers,
    PartiallyCovers,
}

/// Standards and targets that do not go together by themselves, and the answers that resolve it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Conflict {
    pub(crate) id: RowId,
    pub(crate) standards: List<RowId, 1, 64>,
    pub(crate) targets: List<RowId, 1, 64>,
    /// Where the resolution stands in a plan.
    pub(crate) field: FieldPath,
    #[serde(default = "block")]
    pub(crate) severity: Severity,
    pub(crate) question: Question,
    #[serde(default = "nothing")]
    pub(crate) context: Context,
    /// The values of the field that resolve it, as templates; these are the only answers.
    pub(crate) resolutions: List<Short, 1, 32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) blocks: Option<Operations>,
    #[serde(default)]
    pub(crate) assurance: Assurance,
}

/// A condition: from a `.cedar` file, with its annotations as columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Policy {
    pub(crate) id: RowId,
    pub(crate) field: FieldPath,
    pub(crate) severity: Severity,
    pub(crate) question: Question,
    pub(crate) context: Context,
    pub(crate) suggestions: Shorts,
    pub(crate) choices: Shorts,
    pub(crate) kinds: List<Kind, 0, 5>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) blocks: Option<Operations>,
    pub(crate) assurance: Assurance,
    /// Its normal form.
    pub(crate) condition: String,
}

impl Tables {
    /// Returns tables without rows.
    pub(crate) fn empty() -> Self {
        Self {
            format: FORMAT.to_owned(),
            cldr: crate::direction::CLDR.to_owned(),
            packs: Vec::new(),
            settings: Settings::default(),
            wording: BTreeMap::new(),
            unread: Unread::default(),
            jurisdictions: Table::new(),
            standards: Table::new(),
            targets: Table::new(),
            bundles: Table::new(),
            languages: Table::new(),
            required: Table::new(),
            ambiguous: Table::new(),
            overlaps: Table::new(),
            conflicts: Table::new(),
            policies: Table::new(),
        }
    }
}

impl Settings {
    /// Takes over what another pack says.
    pub(crate) fn extend(&mut self, later: &Self) {
        fn take<T: Clone>(place: &mut Option<T>, later: Option<&T>) {
            if let Some(later) = later {
                *place = Some(later.clone());
            }
        }
        take(&mut self.standards, later.standards.as_ref());
        take(&mut self.targets, later.targets.as_ref());
        take(&mut self.jurisdiction, later.jurisdiction.as_ref());
        take(&mut self.languages, later.languages.as_ref());
        take(&mut self.direction, later.direction.as_ref());
        take(&mut self.right_to_left, later.right_to_left.as_ref());
        take(&mut self.lists, later.lists.as_ref());
        take(&mut self.blocks, later.blocks.as_ref());
        take(&mut self.own_answers, later.own_answers.as_ref());
        take(&mut self.unknown_standard, later.unknown_standard.as_ref());
        take(&mut self.unknown_target, later.unknown_target.as_ref());
    }
}

const fn block() -> Severity {
    Severity::Block
}

const fn warn() -> Severity {
    Severity::Warn
}

const fn yes() -> bool {
    true
}

fn is_none(words: &Shorts) -> bool {
    words.is_empty()
}

fn nothing() -> Context {
    // Unwrap safety: the empty text is within the limits of a context.
    Context::try_from("").expect("the least length is 0")
}

/// The format of the stored document.
pub(crate) const FORMAT: &str = "demur-rules/1";
