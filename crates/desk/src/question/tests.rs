//! Questions that a newer version of demur went on with, among those of this one.

use std::sync::Arc;

use demur_api::question::{Ask, QuestionId};
use demur_core::{canonical, hash::sha256, time::Timestamp};
use demur_ledger::{
    entry::Entry,
    envelope::Event,
    question::OutcomeKind,
    role::Role,
    signed::{Head, Signed},
};
use demur_store::{
    contract::{Append, Leases as _, QuestionFilter, QuestionRow, Store as _, Write, WriteOutcome},
    memory::MemoryStore,
};
use serde_json::json;
use tempfile::TempDir;

use super::{QuestionSearch, ask, list, search, view};
use crate::{
    data::DataFolder,
    owner::{Owner, desk_key},
};

/// A store that this version and a newer one share.
pub(crate) struct Shared {
    pub(crate) owner: Owner,
    store: Arc<MemoryStore>,
    _folder: TempDir,
}

impl Shared {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(MemoryStore::shared(Timestamp::from_millis(1_794_700_800_000).unwrap()));
        let data = DataFolder::at(folder.path().to_owned());
        let (owner, _) = Owner::over(&data, &(Arc::clone(&store) as _)).unwrap();
        Self { owner, store, _folder: folder }
    }

    pub(crate) fn ask(&self, words: &str) -> QuestionId {
        let asker = self.owner.find_or_enrol("asker", Role::Agent).unwrap();
        let words: Ask = serde_json::from_value(json!({"question": words, "timeout_seconds": 1})).unwrap();
        ask(&self.owner, &asker, &words, None).unwrap().id
    }

    /// Records an event of a type that this version does not know, after which the question is this.
    pub(crate) fn visit(&self, id: QuestionId, outcome: OutcomeKind) {
        let registry = self.owner.sequencer().registry();
        let (summary, store) = (self.store.trace(id.trace).unwrap().unwrap(), registry.store());
        let envelope = json!({
            "actor": registry.desk(), "content": null, "epoch": 1, "format": 1, "previous": summary.head.hash,
            "proof": "none",
            "record": {"cause": null, "facts": {}, "role": "desk", "type": "question_muted"},
            "registry": registry.head(), "sequence": summary.head.sequence.next(), "statement": null,
            "store": store, "time": summary.changed, "trace": id.trace,
        });
        let event = Event::parse(&canonical::to_vec(&envelope).unwrap()).unwrap();
        let head = event.position();
        let document = Head { epoch: 1, head, registry: registry.head(), store, trace: id.trace };
        let row = self.store.question(id.trace, id.sequence).unwrap().unwrap().row;
        let append = Append {
            trace: id.trace,
            expected: Some(summary.head),
            entries: vec![Entry { event, opening: None, artifact: None, meaning: None }],
            head: Signed::new(document, &desk_key(self.owner.keyring(), &registry).unwrap()).unwrap(),
            phase: summary.phase,
            questions: vec![(id.sequence, Some(QuestionRow { outcome, changed: head.sequence, ..row }))],
            confirmations: Vec::new(),
            snapshot: None,
        };
        let writer = self.store.begin_lease(sha256(b"")).unwrap().id;
        assert_eq!(self.store.commit(&[Write::of_events(writer, append)]).unwrap(), [WriteOutcome::Done]);
        self.store.end_lease(writer).unwrap();
    }
}

#[test]
fn question_that_cannot_be_read_hides_no_other() {
    let shared = Shared::new();
    let [first, unread, last] = ["One?", "Two?", "Three?"].map(|words| shared.ask(words));
    shared.visit(unread, OutcomeKind::Answered);
    view(&shared.owner, unread).unwrap_err();
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = list(&shared.owner, &QuestionFilter::default(), after.as_deref(), 1).unwrap();
        found.extend(page.questions.iter().map(|question| question.id));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, [first, last], "page by page");
    let outcomes = vec![OutcomeKind::Open, OutcomeKind::Answered];
    let searched = search::find(&shared.owner, &QuestionSearch { outcomes, ..Default::default() }).unwrap();
    assert_eq!(searched.questions.iter().map(|question| question.id).collect::<Vec<_>>(), [first, last]);
    assert_eq!(searched.read, 3);
}
