//! Packs layered into one set of rules: later packs add rows, replace those with the same id and take others away.
//! The result is one canonical document with one hash, which is what travels with a decision (CLR-16).

use demur_core::{
    canonical,
    hash::{self, Digest},
    limit::{Limits, List},
};

use crate::{
    builtin, direction,
    error::{Mistake, PackError},
    index::Index,
    pack::{Pack, Places},
    table::{
        Ambiguous, Bundle, Conflict, FORMAT, Jurisdiction, Language, Overlap, PackName, Policy, Required,
        Row, Standard, Tables, Target,
    },
    wording,
};

/// Rules ready to be held against plans. Cheap to share, never changed.
#[derive(Debug)]
pub struct Rules {
    pub(crate) tables: Tables,
    pub(crate) index: Index,
    document: Vec<u8>,
    hash: Digest,
}

impl Rules {
    /// Returns the rules of these packs, the lowest first.
    pub fn layer(packs: &[Pack]) -> Result<Self, PackError> {
        let mut tables = Tables::empty();
        let mut places = Places::new();
        for pack in packs {
            tables.packs.push(pack.name.clone());
            tables.settings.extend(&pack.tables.settings);
            tables.wording.extend(pack.tables.wording.clone());
            let mut layer = Layer { tables: &mut tables, places: &mut places, pack };
            layer.take_unread()?;
            layer.take::<Jurisdiction>()?;
            layer.take::<Standard>()?;
            layer.take::<Target>()?;
            layer.take::<Bundle>()?;
            layer.take::<Language>()?;
            layer.take::<Required>()?;
            layer.take::<Ambiguous>()?;
            layer.take::<Overlap>()?;
            layer.take::<Conflict>()?;
            layer.take::<Policy>()?;
        }
        Self::new(tables).map_err(|RowMistake { table, id, mistake }| {
            let place = id.parse().ok().and_then(|id| places.get(&(table, id)));
            let file = place.map_or("pack.toml", |(file, _)| file);
            let found = format!("{} ({} of [[{table}]] {id})", mistake.found, mistake.key);
            let mut error = PackError::whole(file, mistake.expected, found);
            (error.line, error.cure) = (place.map(|(_, line)| *line), mistake.cure);
            error
        })
    }

    /// Returns the rules of the pack that comes with the program.
    pub fn builtin() -> Result<Self, PackError> {
        Self::layer(&[builtin::pack()?])
    }

    /// Returns the rules in a document that [`Rules::document`] wrote.
    pub fn from_document(bytes: &[u8]) -> Result<Self, PackError> {
        let tables: Tables = canonical::from_canonical(bytes, &LIMITS).map_err(|error| {
            PackError::whole("document", "a document of rules in canonical form", error.to_string())
        })?;
        let known = |expected: &str, found: &str| {
            let error = || PackError::whole("document", format!("{expected:?}"), format!("{found:?}"));
            if expected == found {
                Ok(())
            } else {
                Err(error().cured("use a program that knows this format"))
            }
        };
        known(FORMAT, &tables.format)?;
        known(direction::CLDR, &tables.cldr)?;
        Self::new(tables).map_err(|RowMistake { table, id, mistake }| {
            let found = format!("{} ({} of {table} {id})", mistake.found, mistake.key);
            PackError::whole("document", mistake.expected, found)
        })
    }

    /// Returns the layered rules as canonical JSON. Comments, layout and the split into files do not show in it.
    pub fn document(&self) -> &[u8] {
        &self.document
    }

    /// Returns SHA-256 over the document.
    pub const fn hash(&self) -> Digest {
        self.hash
    }

    /// Returns the packs, the lowest first.
    pub fn packs(&self) -> &[PackName] {
        &self.tables.packs
    }

    fn new(tables: Tables) -> Result<Self, RowMistake> {
        let whole = |mistake| RowMistake { table: "settings", id: Box::from(""), mistake };
        for (word, text) in &tables.wording {
            wording::check("wording", text, word.allowed()).map_err(whole)?;
        }
        tables.settings.check().map_err(whole)?;
        check::<Jurisdiction>(&tables.jurisdictions)?;
        check::<Standard>(&tables.standards)?;
        check::<Target>(&tables.targets)?;
        check::<Bundle>(&tables.bundles)?;
        check::<Language>(&tables.languages)?;
        check::<Required>(&tables.required)?;
        check::<Ambiguous>(&tables.ambiguous)?;
        check::<Overlap>(&tables.overlaps)?;
        check::<Conflict>(&tables.conflicts)?;
        check::<Policy>(&tables.policies)?;
        let index = Index::new(&tables)?;
        let document = canonical::to_vec(&tables)
            .map_err(|error| whole(Mistake::new("", "rules with a canonical form", error.to_string())))?;
        if document.len() > LIMITS.bytes {
            let expected = format!("at most {} bytes of layered rules", LIMITS.bytes);
            return Err(whole(Mistake::new("", expected, document.len().to_string())));
        }
        let hash = hash::sha256(&document);
        Ok(Self { tables, index, document, hash })
    }
}

/// A mistake and the row it is in.
pub(crate) struct RowMistake {
    pub(crate) table: &'static str,
    pub(crate) id: Box<str>,
    pub(crate) mistake: Mistake,
}

struct Layer<'a> {
    tables: &'a mut Tables,
    places: &'a mut Places,
    pack: &'a Pack,
}

impl Layer<'_> {
    /// Takes the fields that nobody is asked about from the pack, beside those of the packs below.
    fn take_unread(&mut self) -> Result<(), PackError> {
        let (own, pack) = (&mut self.tables.unread.except, &self.pack.tables.unread.except);
        let new = pack.iter().filter(|pattern| !own.contains(pattern)).cloned();
        let all: Vec<_> = own.iter().cloned().chain(new).collect();
        *own = List::try_from(all).map_err(|error| {
            PackError::whole("pack.toml", "fewer entries of `except` in [unread]", error.to_string())
        })?;
        Ok(())
    }

    /// Takes the rows of one table from the pack.
    fn take<R: Row>(&mut self) -> Result<(), PackError> {
        let table = R::table(self.tables);
        for ((_, id), (file, line)) in self.pack.removed.iter().filter(|((name, _), _)| *name == R::TABLE) {
            if table.remove(id).is_none() {
                let expected = format!("a row of [[{}]] in a pack below", R::TABLE);
                let mut error = PackError::whole(file, expected, format!("none with id {:?}", id.as_str()));
                error.line = Some(*line);
                return Err(error.cured("correct the id, or leave the row out"));
            }
        }
        table.extend(R::rows(&self.pack.tables).iter().map(|(id, entry)| (id.clone(), entry.clone())));
        let places = self.pack.places.iter().filter(|((name, _), _)| *name == R::TABLE);
        self.places.extend(places.map(|(key, place)| (key.clone(), place.clone())));
        Ok(())
    }
}

/// Checks every row by itself, and that it stands under its own id.
fn check<R: Row>(table: &crate::table::Table<R>) -> Result<(), RowMistake> {
    for (id, entry) in table {
        let mistake = match entry.row.check() {
            Err(mistake) => mistake,
            Ok(()) if entry.row.id() != id => Mistake::new("id", id.as_str(), entry.row.id().as_str()),
            Ok(()) => continue,
        };
        return Err(RowMistake { table: R::TABLE, id: id.as_str().into(), mistake });
    }
    Ok(())
}

/// Enough for some layers of large packs.
const LIMITS: Limits = Limits { bytes: 4 << 20, depth: 16, members: 16_384, text: 128 << 10 };
