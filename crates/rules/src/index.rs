//! What detection looks up: names in every spelling, phrases, conditions ready to be decided. Made once per set of
//! rules; here it also shows whether rows name each other rightly.

use std::collections::{BTreeMap, BTreeSet};

use demur_core::limit::Text;

use crate::{
    condition::Condition,
    direction,
    error::Mistake,
    facts,
    name::{RowId, plain},
    readers::Readers,
    reads::Reads,
    rules::RowMistake,
    table::{Ambiguous, Entry, Name, Policy, Row, Shorts, Table, Tables},
};

/// Lookup tables of one set of rules.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) standards: Names,
    pub(crate) targets: Names,
    /// Languages by plain name and alias.
    pub(crate) languages: BTreeMap<String, RowId>,
    pub(crate) phrases: Vec<Phrases>,
    pub(crate) conditions: Vec<(RowId, Condition)>,
    /// Whether any condition reads what is derived from a plan.
    pub(crate) reads_derived: bool,
    pub(crate) reads: Reads,
    pub(crate) readers: Readers,
    /// The jurisdictions in which each lies, however far up.
    larger: BTreeMap<RowId, BTreeSet<RowId>>,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meaning {
    Row(RowId),
    Bundle(RowId),
}

/// Names in their plain spelling. An id means its row alone; another name may be shared.
#[derive(Debug, Default)]
pub(crate) struct Names {
    ids: BTreeMap<String, Meaning>,
    others: BTreeMap<String, BTreeSet<Meaning>>,
}

/// The phrases of one row.
#[derive(Debug)]
pub(crate) struct Phrases {
    pub(crate) id: RowId,
    values: BTreeSet<String>,
    leading: BTreeSet<String>,
    trailing: BTreeSet<String>,
    /// Words of the longest phrase.
    longest: usize,
}

impl Meaning {
    /// Returns the id of the row or bundle.
    pub(crate) const fn id(&self) -> &RowId {
        match self {
            Self::Row(id) | Self::Bundle(id) => id,
        }
    }
}

impl Index {
    /// Returns the index of these tables, or which row names something that is not there.
    pub(crate) fn new(tables: &Tables) -> Result<Self, RowMistake> {
        references(tables)?;
        let larger = larger(tables)?;
        let mut standards = Names::default();
        let mut targets = Names::default();
        for (id, Entry { row, .. }) in &tables.standards {
            let meaning = Meaning::Row(id.clone());
            standards.add("standard", &meaning, &row.name, row.title.as_deref(), &row.aliases)?;
        }
        for (id, Entry { row, .. }) in &tables.bundles {
            standards.add("bundle", &Meaning::Bundle(id.clone()), &row.name, None, &row.aliases)?;
        }
        for (id, Entry { row, .. }) in &tables.targets {
            let meaning = Meaning::Row(id.clone());
            targets.add("target", &meaning, &row.name, row.title.as_deref(), &row.aliases)?;
        }
        let mut languages = BTreeMap::new();
        for (id, entry) in &tables.languages {
            for name in std::iter::once(&entry.row.name).chain(&entry.row.aliases) {
                languages.entry(plain(name)).or_insert_with(|| id.clone());
            }
        }
        let conditions = conditions(tables)?;
        let reads_derived = conditions.iter().any(|(_, condition)| {
            condition.names().iter().any(|path| path.split('.').next() == Some(facts::DERIVED))
        });
        let phrases = tables.ambiguous.values().map(|entry| Phrases::new(&entry.row)).collect();
        let (reads, readers) = (Reads::new(tables, &conditions), Readers::new(tables, &conditions));
        Ok(Self { standards, targets, languages, phrases, conditions, reads_derived, reads, readers, larger })
    }

    /// Returns whether two jurisdictions are one, or one lies within the other. A larger one around both is not enough.
    pub(crate) fn agree(&self, one: &RowId, other: &RowId) -> bool {
        let inside = |inner, outer| self.larger.get(inner).is_some_and(|larger| larger.contains(outer));
        one == other || inside(one, other) || inside(other, one)
    }
}

/// Returns in which jurisdictions each lies; none lies within itself.
fn larger(tables: &Tables) -> Result<BTreeMap<RowId, BTreeSet<RowId>>, RowMistake> {
    let within = |id: &RowId| tables.jurisdictions.get(id).into_iter().flat_map(|entry| &entry.row.within);
    let mut all = BTreeMap::new();
    for id in tables.jurisdictions.keys() {
        let (mut found, mut open) = (BTreeSet::new(), vec![id]);
        while let Some(next) = open.pop() {
            open.extend(within(next).filter(|outer| found.insert((*outer).clone())));
        }
        if found.contains(id) {
            let mistake =
                Mistake::new("within", "jurisdictions that do not lie within this one", id.as_str())
                    .cure("take one `within` of the circle out");
            return Err(RowMistake { table: "jurisdiction", id: id.as_str().into(), mistake });
        }
        all.insert(id.clone(), found);
    }
    Ok(all)
}

impl Names {
    /// Returns what a name may mean: nothing, one thing, or several.
    pub(crate) fn meanings(&self, name: &str) -> Vec<&Meaning> {
        let name = plain(name);
        if let Some(meaning) = self.ids.get(&name) {
            return vec![meaning];
        }
        self.others.get(&name).into_iter().flatten().collect()
    }

    /// Takes up the names of a row; an id that another row has in some spelling is a mistake.
    fn add(
        &mut self,
        table: &'static str,
        meaning: &Meaning,
        name: &str,
        title: Option<&str>,
        aliases: &[Name],
    ) -> Result<(), RowMistake> {
        let id = meaning.id().as_str();
        if let Some(other) = self.ids.insert(plain(id), meaning.clone()) {
            let expected = "an id that no other row has in any spelling";
            let mistake = Mistake::new("id", expected, format!("that of {}", other.id()))
                .cure("a plan names both in the same field: rename one");
            return Err(RowMistake { table, id: id.into(), mistake });
        }
        let names = std::iter::once(name).chain(title).chain(aliases.iter().map(Text::as_str));
        for name in names {
            self.others.entry(plain(name)).or_default().insert(meaning.clone());
        }
        Ok(())
    }
}

impl Phrases {
    fn new(row: &Ambiguous) -> Self {
        let values: BTreeSet<String> = row.phrases.iter().map(|phrase| plain(phrase)).collect();
        let longest = values.iter().map(|phrase| phrase.split('-').count()).max().unwrap_or_default();
        let words = |words: &Shorts| words.iter().map(|word| plain(word)).collect();
        let (leading, trailing) = (words(&row.leading), words(&row.trailing));
        Self { id: row.id.clone(), values, leading, trailing, longest }
    }

    /// Returns whether a plain text is one of the phrases, with or without words before and after it.
    pub(crate) fn contain(&self, plain: &str) -> bool {
        if self.values.contains(plain) {
            return true;
        }
        let words: Vec<&str> = plain.split('-').collect();
        let before = words.iter().take_while(|word| self.leading.contains(**word)).count();
        let after = words.iter().rev().take_while(|word| self.trailing.contains(**word)).count();
        // A listed word may belong to the phrase; no more words are put together than the longest phrase has.
        before + after > 0
            && (0..=before).any(|start| {
                let least = (words.len() - after).max(start + 1);
                let most = words.len().min(start + self.longest);
                (least..=most).any(|end| self.values.contains(&words[start..end].join("-")))
            })
    }
}

fn conditions(tables: &Tables) -> Result<Vec<(RowId, Condition)>, RowMistake> {
    let parse = |(id, entry): (&RowId, &Entry<Policy>)| {
        let condition = Condition::parse(&entry.row.condition).map_err(|fault| {
            let mistake = Mistake::new("condition", fault.expected, fault.found);
            RowMistake { table: Policy::TABLE, id: id.as_str().into(), mistake }
        })?;
        // One spelling for one condition: a stored document in another one is none of ours.
        if condition.to_string() != entry.row.condition {
            let mistake = Mistake::new("condition", "its normal form", "another spelling");
            return Err(RowMistake { table: Policy::TABLE, id: id.as_str().into(), mistake });
        }
        Ok((id.clone(), condition))
    };
    tables.policies.iter().map(parse).collect()
}

/// Checks that rows name rows that are there, and that settings say where a plan keeps what the tables speak of.
fn references(tables: &Tables) -> Result<(), RowMistake> {
    for (id, entry) in &tables.jurisdictions {
        known("jurisdiction", id, "within", &tables.jurisdictions, &entry.row.within)?;
    }
    for (id, entry) in &tables.bundles {
        known("bundle", id, "standards", &tables.standards, &entry.row.standards)?;
    }
    for (id, entry) in &tables.overlaps {
        known("overlap", id, "from", &tables.standards, std::slice::from_ref(&entry.row.from))?;
        known("overlap", id, "to", &tables.standards, std::slice::from_ref(&entry.row.to))?;
    }
    for (id, entry) in &tables.conflicts {
        known("conflict", id, "standards", &tables.standards, &entry.row.standards)?;
        known("conflict", id, "targets", &tables.targets, &entry.row.targets)?;
    }
    let settings = &tables.settings;
    let needs = [
        ("standard", "standards", tables.standards.keys().next(), settings.standards.is_some()),
        ("target", "targets", tables.targets.keys().next(), settings.targets.is_some()),
        ("language", "languages", tables.languages.keys().next(), settings.languages.is_some()),
    ];
    for (table, setting, first, given) in needs {
        if let Some(id) = first.filter(|_| !given) {
            let mistake = Mistake::new("", format!("`{setting}` in [settings]"), "none")
                .cure(format!("say which field of a plan names its {setting}"));
            return Err(RowMistake { table, id: id.as_str().into(), mistake });
        }
    }
    layout(tables)
}

fn layout(tables: &Tables) -> Result<(), RowMistake> {
    let settings = &tables.settings;
    if settings.direction.is_some() == settings.right_to_left.is_some() {
        return Ok(());
    }
    let mistake =
        Mistake::new("direction", "`direction` and `right_to_left` in [settings]", "one without the other");
    Err(RowMistake { table: "settings", id: Box::from(""), mistake })
}

fn known<R>(
    table: &'static str,
    id: &RowId,
    key: &'static str,
    rows: &Table<R>,
    named: &[RowId],
) -> Result<(), RowMistake> {
    let Some(missing) = named.iter().find(|name| !rows.contains_key(*name)) else { return Ok(()) };
    let mistake =
        Mistake::new(key, "the id of a row in this or a lower pack", format!("{:?}", missing.as_str()))
            .cure("add the row, or correct the id");
    Err(RowMistake { table, id: id.as_str().into(), mistake })
}

impl Tables {
    /// Returns the supported language that covers a tag.
    pub(crate) fn supports(&self, tag: &str) -> bool {
        let mut tag = direction::canonical(tag);
        loop {
            if tag.parse().is_ok_and(|id: RowId| self.languages.contains_key(&id)) {
                return true;
            }
            let Some(shorter) = tag.rfind('-') else { return false };
            tag.truncate(shorter);
        }
    }
}
