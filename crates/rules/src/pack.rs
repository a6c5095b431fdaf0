//! A rule pack: a folder with `pack.toml` (tables and wordings) and any number of `*.cedar` files (conditions).
//! Reading is pure: the caller hands over names and bytes. Every mistake is told with its file and line (CLR-16).

mod place;
mod policy;

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{
    Spanned,
    de::{DeTable, DeValue, ValueDeserializer},
};

use self::place::Source;
use crate::{
    error::PackError,
    name::RowId,
    table::{
        Ambiguous, Bundle, Conflict, Entry, Jurisdiction, Language, Overlap, PackName, Policy, Question,
        Required, Row, Settings, Standard, Tables, Target,
    },
    wording::{self, Word},
};

/// Where rows stand: table and id, file and line.
pub(crate) type Places = BTreeMap<(&'static str, RowId), (String, u32)>;

/// A rule pack as it was read, not yet layered with others.
#[derive(Clone, Debug)]
pub struct Pack {
    pub(crate) name: PackName,
    /// Its rows; facts about other packs' rows are not checked yet.
    pub(crate) tables: Tables,
    /// Rows of packs below that it takes away: table and id.
    pub(crate) removed: Places,
    /// Where each row stands.
    pub(crate) places: Places,
}

impl Pack {
    /// Returns the pack in these files. Other files than `pack.toml` and `*.cedar` are ignored; the order of files does
    /// not matter.
    pub fn read<N, B>(files: impl IntoIterator<Item = (N, B)>) -> Result<Self, PackError>
    where
        N: AsRef<str>,
        B: AsRef<[u8]>,
    {
        let mut sources = BTreeMap::new();
        for (name, bytes) in files {
            let name = name.as_ref();
            if is_ours(name) {
                sources.insert(name.to_owned(), Source::new(name, bytes.as_ref())?);
            }
            if sources.len() > MOST_FILES {
                return Err(PackError::whole("pack", format!("at most {MOST_FILES} files"), "more"));
            }
        }
        let table = sources.values().find(|source| source.is("pack.toml"));
        let table = table.ok_or_else(|| {
            PackError::whole("pack.toml", "a file of this name in the pack", "none")
                .cured("write one with [pack], name and version")
        })?;
        let mut pack = Self::from_table(table)?;
        for source in sources.values().filter(|source| !source.is("pack.toml")) {
            pack.add_policies(source)?;
        }
        Ok(pack)
    }

    /// Returns its name and version.
    pub const fn name(&self) -> &PackName {
        &self.name
    }

    fn from_table(source: &Source) -> Result<Self, PackError> {
        let mut table = DeTable::parse(&source.text).map_err(|error| source.toml(&error))?.into_inner();
        let name: PackName = match table.remove("pack") {
            Some(value) => source.read(value)?,
            None => return Err(source.at(0, "a table [pack] with name and version", "none")),
        };
        let mut tables = Tables::empty();
        if let Some(value) = table.remove("settings") {
            tables.settings = settings(source, value)?;
        }
        if let Some(value) = table.remove("wording") {
            tables.wording = wordings(source, value)?;
        }
        if let Some(value) = table.remove("unread") {
            tables.unread = source.read(value)?;
        }
        let (removed, places) = (Places::new(), Places::new());
        let mut pack = Self { name, tables, removed, places };
        pack.add_rows::<Jurisdiction>(source, &mut table)?;
        pack.add_rows::<Standard>(source, &mut table)?;
        pack.add_rows::<Target>(source, &mut table)?;
        pack.add_rows::<Bundle>(source, &mut table)?;
        pack.add_rows::<Language>(source, &mut table)?;
        pack.add_rows::<Required>(source, &mut table)?;
        pack.add_rows::<Ambiguous>(source, &mut table)?;
        pack.add_rows::<Overlap>(source, &mut table)?;
        pack.add_rows::<Conflict>(source, &mut table)?;
        pack.add_rows::<Policy>(source, &mut table)?;
        if let Some((name, _)) = table.iter().next() {
            let found = format!("[{}]", name.get_ref());
            return Err(source.at(name.span().start, format!("one of the tables {TABLES}"), found));
        }
        Ok(pack)
    }

    fn add_rows<R: Row>(&mut self, source: &Source, table: &mut DeTable<'_>) -> Result<(), PackError> {
        let Some(rows) = table.remove(R::TABLE) else { return Ok(()) };
        let start = rows.span().start;
        let DeValue::Array(rows) = rows.into_inner() else {
            let expected = format!("rows that begin with [[{}]]", R::TABLE);
            return Err(source.at(start, expected, "something else"));
        };
        if rows.len() > MOST_ROWS {
            return Err(source.at(
                start,
                format!("at most {MOST_ROWS} rows of [[{}]]", R::TABLE),
                rows.len(),
            ));
        }
        for value in rows {
            let start = value.span().start;
            match removal(source, &value)? {
                Some(id) => self.remove::<R>(source, start, id)?,
                None => self.add_row::<R>(source, value)?,
            }
        }
        Ok(())
    }

    fn add_row<R: Row>(&mut self, source: &Source, value: Spanned<DeValue<'_>>) -> Result<(), PackError> {
        let start = value.span().start;
        if R::TABLE == Policy::TABLE {
            return Err(source
                .at(start, "only `id` and `remove = true` in [[policy]]", "another row")
                .cured("conditions are written in a .cedar file"));
        }
        let spans = place::keys(&value);
        let row: R = source.read(value)?;
        row.check().map_err(|mistake| {
            let at = spans.get(mistake.key).copied().unwrap_or(start);
            source.mistake(at, mistake)
        })?;
        self.insert(source, start, row)
    }

    /// Takes a row in; a second one with the same id is a mistake.
    fn insert<R: Row>(&mut self, source: &Source, start: usize, row: R) -> Result<(), PackError> {
        let key = (R::TABLE, row.id().clone());
        if self.places.contains_key(&key) || self.removed.contains_key(&key) {
            let found = format!("{:?} twice in [[{}]]", key.1.as_str(), R::TABLE);
            return Err(source
                .at(start, "each id once in a pack", found)
                .cured("rename one, or take it out"));
        }
        self.places.insert(key, (source.name.clone(), source.line(start)));
        let entry = Entry { pack: self.name.name.clone(), row };
        R::table(&mut self.tables).insert(entry.row.id().clone(), entry);
        Ok(())
    }

    fn remove<R: Row>(&mut self, source: &Source, start: usize, id: RowId) -> Result<(), PackError> {
        let key = (R::TABLE, id);
        if self.places.contains_key(&key) || self.removed.contains_key(&key) {
            let found = format!("{:?} twice in [[{}]]", key.1.as_str(), R::TABLE);
            return Err(source
                .at(start, "each id once in a pack", found)
                .cured("rename one, or take it out"));
        }
        self.removed.insert(key, (source.name.clone(), source.line(start)));
        Ok(())
    }

    fn add_policies(&mut self, source: &Source) -> Result<(), PackError> {
        let policies = crate::condition::policies(&source.text).map_err(|fault| source.fault(fault))?;
        for policy in policies {
            if self.tables.policies.len() >= MOST_POLICIES {
                return Err(source.line_error(
                    policy.line,
                    format!("at most {MOST_POLICIES} policies"),
                    "more",
                ));
            }
            let line = policy.line;
            let row = policy::row(source, &policy)?;
            let start = source.start_of(line);
            self.insert(source, start, row)?;
        }
        Ok(())
    }
}

fn is_ours(name: &str) -> bool {
    place::file_name(name) == "pack.toml"
        || std::path::Path::new(name).extension().is_some_and(|extension| extension == "cedar")
}

fn settings(source: &Source, value: Spanned<DeValue<'_>>) -> Result<Settings, PackError> {
    let (start, spans) = (value.span().start, place::keys(&value));
    let settings: Settings = source.read(value)?;
    settings.check().map_err(|mistake| {
        let at = spans.get(mistake.key).copied().unwrap_or(start);
        source.mistake(at, mistake)
    })?;
    Ok(settings)
}

fn wordings(source: &Source, value: Spanned<DeValue<'_>>) -> Result<BTreeMap<Word, Question>, PackError> {
    let (start, spans) = (value.span().start, place::keys(&value));
    let words: BTreeMap<Word, Question> = source.read(value)?;
    for (word, text) in &words {
        let key = serde_json::to_value(word).ok().and_then(|key| key.as_str().map(str::to_owned));
        let at = key.and_then(|key| spans.get(key.as_str()).copied()).unwrap_or(start);
        wording::check("", text, word.allowed()).map_err(|mistake| source.mistake(at, mistake))?;
    }
    Ok(words)
}

/// Returns the id of a row that takes another away.
fn removal(source: &Source, value: &Spanned<DeValue<'_>>) -> Result<Option<RowId>, PackError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Removal {
        id: RowId,
        #[serde(rename = "remove")]
        _remove: bool,
    }
    let Some(table) = value.get_ref().as_table() else { return Ok(None) };
    let Some(remove) = table.get("remove") else { return Ok(None) };
    if remove.get_ref().as_bool() != Some(true) {
        return Err(source
            .at(remove.span().start, "`remove = true`", "another value")
            .cured("leave remove out"));
    }
    let removal = Removal::deserialize(ValueDeserializer::from(value.clone()));
    removal.map(|removal| Some(removal.id)).map_err(|error| source.toml(&error))
}

/// The tables of a file, for messages.
const TABLES: &str = "[pack], [settings], [wording], [unread], [[jurisdiction]], [[standard]], [[target]], [[bundle]], \
                      [[language]], [[required]], [[ambiguous]], [[overlap]], [[conflict]], [[policy]]";

/// How many files a pack may have.
const MOST_FILES: usize = 64;

/// How many rows a table may have.
const MOST_ROWS: usize = 2048;

/// How many policies a pack may have.
const MOST_POLICIES: usize = 256;
