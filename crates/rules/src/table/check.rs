//! What a row must be by itself: placeholders that its table knows, and columns that agree.

use std::{
    fmt::Debug,
    ops::{Deref, RangeInclusive},
};

use demur_clarify::{gap::Severity, name::FieldPath};

use super::{
    Ambiguous, Bundle, Conflict, Jurisdiction, Kind, Language, Operations, Overlap, Policy, Required, Row,
    Settings, Shorts, Standard, Table, Tables, Target,
};
use crate::{
    condition::Condition,
    direction,
    error::Mistake,
    facts,
    name::{RowId, plain},
    wording,
};

macro_rules! row {
    ($row:ident, $name:literal, $table:ident) => {
        impl Row for $row {
            const TABLE: &'static str = $name;

            fn id(&self) -> &RowId {
                &self.id
            }

            fn check(&self) -> Result<(), Mistake> {
                self.checked()
            }

            fn rows(tables: &Tables) -> &Table<Self> {
                &tables.$table
            }

            fn table(tables: &mut Tables) -> &mut Table<Self> {
                &mut tables.$table
            }
        }
    };
}

row!(Jurisdiction, "jurisdiction", jurisdictions);
row!(Standard, "standard", standards);
row!(Target, "target", targets);
row!(Bundle, "bundle", bundles);
row!(Language, "language", languages);
row!(Required, "required", required);
row!(Ambiguous, "ambiguous", ambiguous);
row!(Overlap, "overlap", overlaps);
row!(Conflict, "conflict", conflicts);
row!(Policy, "policy", policies);

impl Jurisdiction {
    fn checked(&self) -> Result<(), Mistake> {
        once("within", &self.within)
    }
}

impl Standard {
    fn checked(&self) -> Result<(), Mistake> {
        once("aliases", &self.aliases)
    }
}

impl Target {
    fn checked(&self) -> Result<(), Mistake> {
        once("aliases", &self.aliases)
    }
}

impl Bundle {
    fn checked(&self) -> Result<(), Mistake> {
        once("standards", &self.standards)
    }
}

impl Language {
    fn checked(&self) -> Result<(), Mistake> {
        if direction::is_tag(self.id.as_str()) {
            return Ok(());
        }
        Err(Mistake::new("id", "a language tag such as en or ar-sa", format!("{:?}", self.id.as_str())))
    }
}

impl Required {
    fn checked(&self) -> Result<(), Mistake> {
        wording::check("question", &self.question, &["field"])?;
        wording::check("context", &self.context, &["field"])?;
        answers(&self.suggestions, &self.choices, &self.kinds)?;
        blocked(self.severity, self.blocks.as_ref())?;
        reserved(&self.field)
    }
}

impl Ambiguous {
    fn checked(&self) -> Result<(), Mistake> {
        wording::check("question", &self.question, &["field", "value"])?;
        wording::check("context", &self.context, &["field", "value"])?;
        once("suggestions", &self.suggestions)?;
        single("leading", &self.leading)?;
        single("trailing", &self.trailing)?;
        blocked(self.severity, self.blocks.as_ref())
    }
}

impl Overlap {
    /// What its templates may use.
    const ALLOWED: &[&str] = &["field", "from", "from_id", "to", "to_id"];

    fn checked(&self) -> Result<(), Mistake> {
        wording::check("question", &self.question, Self::ALLOWED)?;
        wording::check("context", &self.context, Self::ALLOWED)?;
        wording::check("field", &self.field, &["from_id", "to_id"])?;
        blocked(self.severity, self.blocks.as_ref())?;
        let field = self.field_path().parse::<FieldPath>();
        let field = field.map_err(|error| Mistake::new("field", error.expected, error.found))?;
        reserved(&field)
    }

    /// Returns where its confirmation stands.
    pub(crate) fn field_path(&self) -> String {
        wording::fill(&self.field, |name| match name {
            "from_id" => Some(self.from.as_str().into()),
            "to_id" => Some(self.to.as_str().into()),
            _ => None,
        })
    }
}

impl Conflict {
    /// What its templates may use.
    const ALLOWED: &[&str] =
        &["field", "standard", "standard_id", "standard_name", "target", "target_id", "target_name"];

    fn checked(&self) -> Result<(), Mistake> {
        wording::check("question", &self.question, Self::ALLOWED)?;
        wording::check("context", &self.context, Self::ALLOWED)?;
        for resolution in &self.resolutions {
            wording::check("resolutions", resolution, &["standard_id", "target_id"])?;
        }
        self.resolvable()?;
        blocked(self.severity, self.blocks.as_ref())?;
        reserved(&self.field)
    }

    /// Returns the values that resolve it between a standard and a target.
    pub(crate) fn resolutions(&self, standard: &RowId, target: &RowId) -> Vec<String> {
        let fill = |name: &str| match name {
            "standard_id" => Some(standard.as_str().into()),
            "target_id" => Some(target.as_str().into()),
            _ => None,
        };
        self.resolutions.iter().map(|resolution| wording::fill(resolution, fill)).collect()
    }

    /// Checks that the resolutions are a closed choice between whichever standard and target.
    fn resolvable(&self) -> Result<(), Mistake> {
        let all = self.standards.len() * self.targets.len() * self.resolutions.len();
        if all > MOST_RESOLUTIONS {
            let expected = format!("at most {MOST_RESOLUTIONS} resolutions over all standards and targets");
            return Err(Mistake::new("resolutions", expected, all.to_string()).cure("split the row"));
        }
        for standard in &self.standards {
            for target in &self.targets {
                closed("resolutions", &self.resolutions(standard, target)).map_err(|mistake| {
                    let found = format!("{} between {standard} and {target}", mistake.found);
                    Mistake { found, ..mistake }
                })?;
            }
        }
        Ok(())
    }
}

impl Policy {
    fn checked(&self) -> Result<(), Mistake> {
        let condition = Condition::parse(&self.condition)
            .map_err(|fault| Mistake::new("condition", fault.expected, fault.found))?;
        let names = condition.names();
        let derived = names.iter().filter(|path| path.split('.').next() == Some(facts::DERIVED));
        for path in derived {
            let name = path.strip_prefix("derived.").unwrap_or_default();
            if !facts::DERIVED_NAMES.contains(&name) {
                let expected = format!("one of {} after context.derived", facts::DERIVED_NAMES.join(", "));
                return Err(Mistake::new("condition", expected, format!("{name:?}")));
            }
        }
        let fields: Vec<String> = names.iter().map(|path| format!("context.{path}")).collect();
        let fields = fields.iter().map(String::as_str);
        let allowed: Vec<&str> = ["field", "value"].into_iter().chain(fields).collect();
        wording::check("question", &self.question, &allowed)?;
        wording::check("context", &self.context, &allowed)?;
        answers(&self.suggestions, &self.choices, &self.kinds)?;
        blocked(self.severity, self.blocks.as_ref())?;
        reserved(&self.field)
    }
}

impl Settings {
    /// Returns whether the settings of a pack make sense by themselves.
    pub(crate) fn check(&self) -> Result<(), Mistake> {
        let jurisdiction = self.jurisdiction.as_ref().map_or(Ok(()), reserved);
        jurisdiction.map_err(|mistake| Mistake { key: "jurisdiction", ..mistake })?;
        self.right_to_left.as_ref().map_or(Ok(()), |values| closed("right_to_left", values))
    }
}

fn answers(suggestions: &Shorts, choices: &Shorts, kinds: &[Kind]) -> Result<(), Mistake> {
    once("suggestions", suggestions)?;
    once("kinds", kinds)?;
    if !choices.is_empty() {
        closed("choices", choices)?;
    }
    if choices.is_empty() && kinds.contains(&Kind::Choice) {
        return Err(
            Mistake::new("kinds", "choices where a kind is choice", "none").cure("list them in choices")
        );
    }
    if !choices.is_empty() && !kinds.is_empty() && kinds != [Kind::Choice] {
        return Err(Mistake::new("kinds", "only choice where there are choices", "another kind")
            .cure("leave kinds out, or write suggestions instead of choices"));
    }
    Ok(())
}

/// Checks that a closed choice can be put as a question: there it has these limits, and an answer comes without spaces
/// around it.
fn closed<T: Deref<Target = str> + Ord + Debug>(key: &'static str, choices: &[T]) -> Result<(), Mistake> {
    once(key, choices)?;
    if !CHOICES.contains(&choices.len()) {
        let expected = format!("{} to {} values to choose from", CHOICES.start(), CHOICES.end());
        return Err(Mistake::new(key, expected, choices.len().to_string())
            .cure("add what else can be answered, or leave out what cannot"));
    }
    if let Some(long) =
        choices.iter().map(|choice| choice.chars().count()).find(|count| *count > LONGEST_CHOICE)
    {
        let expected = format!("values of at most {LONGEST_CHOICE} characters");
        return Err(Mistake::new(key, expected, format!("one of {long}")));
    }
    match choices.iter().find(|choice| choice.trim() != &***choice) {
        None => Ok(()),
        Some(wide) => Err(Mistake::new(key, "values without spaces around them", format!("{:?}", &**wide))),
    }
}

/// Checks that entries are single words: they are taken off a phrase one by one.
fn single(key: &'static str, words: &Shorts) -> Result<(), Mistake> {
    once(key, words)?;
    let whole = |word: &str| !word.is_empty() && !word.contains('-');
    match words.iter().find(|word| !whole(&plain(word))) {
        None => Ok(()),
        Some(several) => Err(Mistake::new(key, "single words", format!("{:?}", several.as_str()))
            .cure("write each word by itself, or add the phrase with them")),
    }
}

fn blocked(severity: Severity, blocks: Option<&Operations>) -> Result<(), Mistake> {
    let Some(blocks) = blocks else { return Ok(()) };
    if severity == Severity::Warn && !blocks.is_empty() {
        return Err(Mistake::new(
            "blocks",
            "no operation in a gap of severity WARN",
            blocks.len().to_string(),
        )
        .cure("make it BLOCK, or leave blocks out"));
    }
    once("blocks", blocks)
}

fn once<T: Ord + Debug>(key: &'static str, entries: &[T]) -> Result<(), Mistake> {
    let mut seen = std::collections::BTreeSet::new();
    match entries.iter().find(|entry| !seen.insert(*entry)) {
        None => Ok(()),
        Some(twice) => Err(Mistake::new(key, "each entry once", format!("{twice:?} twice"))),
    }
}

fn reserved(field: &FieldPath) -> Result<(), Mistake> {
    if field.as_str().split('.').next() == Some(facts::DERIVED) {
        return Err(Mistake::new("field", "a field of the plan", "derived")
            .cure("derived is made from the plan; ask about the field it comes from"));
    }
    Ok(())
}

/// How many values a closed choice has.
const CHOICES: RangeInclusive<usize> = 2..=32;

/// Characters of one of them.
const LONGEST_CHOICE: usize = 256;

/// Resolutions of one row over all pairs of its standards and targets: each is looked at when rules are read.
const MOST_RESOLUTIONS: usize = 4096;
