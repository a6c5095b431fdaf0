//! Rules as data: which plan has which gaps, and what an answer settles (seed 000, section 3; CLR-10 to CLR-17, CLR-44).
//!
//! A [`Pack`] is a folder of tables and conditions. Packs are layered into [`Rules`], which are held against a [`Plan`].
//! Nothing about a domain is in the code: the pack that comes with the program ([`builtin`]) is data like any other.
//! Pure: no files, no clock. `docs/rules.md` shows how to write a pack; `docs/design/006-rules.md` has the decisions.
//!
//! | part | module |
//! |---|---|
//! | reading packs, errors with file and line | `pack`, `table`, `wording`, [`error`] |
//! | layers, the stored document and its hash | `rules`, `index` |
//! | conditions in Cedar's syntax | `condition` |
//! | what follows from a plan: names, jurisdictions, languages | `facts`, [`direction`] |
//! | which fields the rules read, and who reads them | `reads`, `readers` |
//! | gaps | [`detect`], [`finding`] |
//! | answers | [`judge`] |
//!
//! ```
//! use demur_rules::{Plan, Rules, finding::Settled, judge::Judgement};
//!
//! let rules = Rules::builtin()?;
//! let plan = Plan::read(br#"{"description": "news", "component_type": "webpart-react", "operation": "add",
//!     "data_storage": "properties", "api_choice": "rest", "real_build": true}"#)?;
//! let gaps = rules.detect(&plan, &Settled::default())?;
//! assert_eq!(gaps[0].field.as_str(), "output_path");
//! let judgement = rules.judge(&plan, &Settled::default(), &gaps[0], "dist")?;
//! assert!(matches!(judgement, Judgement::Settles { .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod builtin;
mod condition;
pub mod detect;
pub mod direction;
pub mod error;
mod facts;
pub mod finding;
mod index;
pub mod judge;
mod name;
mod origin;
mod pack;
mod plan;
mod readers;
mod reads;
mod request;
mod rules;
mod table;
mod wording;

pub use error::PackError;
pub use finding::{Finding, Settled};
pub use judge::Judgement;
pub use name::{RowId, RuleId};
pub use pack::Pack;
pub use plan::Plan;
pub use rules::Rules;
pub use table::{Assurance, Kind, PackName};
