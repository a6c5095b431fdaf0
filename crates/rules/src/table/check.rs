//! What a row must be by itself: placeholders that its table knows, and columns that agree.

use demur_clarify::{gap::Severity, name::FieldPath};

use super::{
    Ambiguous, Bundle, Conflict, Kind, Language, Operations, Overlap, Policy, Required, Row, Shorts,
    Standard, Table, Tables, Target,
};
use crate::{condition::Condition, direction, error::Mistake, facts, name::RowId, wording};

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

row!(Standard, "standard", standards);
row!(Target, "target", targets);
row!(Bundle, "bundle", bundles);
row!(Language, "language", languages);
row!(Required, "required", required);
row!(Ambiguous, "ambiguous", ambiguous);
row!(Overlap, "overlap", overlaps);
row!(Conflict, "conflict", conflicts);
row!(Policy, "policy", policies);

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
        once("resolutions", &self.resolutions)?;
        blocked(self.severity, self.blocks.as_ref())?;
        reserved(&self.field)
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

fn answers(suggestions: &Shorts, choices: &Shorts, kinds: &[Kind]) -> Result<(), Mistake> {
    once("suggestions", suggestions)?;
    once("choices", choices)?;
    once("kinds", kinds)?;
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

fn once<T: Ord + std::fmt::Debug>(key: &'static str, entries: &[T]) -> Result<(), Mistake> {
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
