//! Statements with something wrong about them.

use demur_core::{
    commitment::Salt,
    hash::{Purpose, sha256},
    key::SecretKey,
    time::Timestamp,
};
use demur_ledger::{
    author::Draft,
    event_type::{Content, Facts},
    name::{Position, Sequence, StoreId, TraceId},
    proof::KeySignature,
    role::Role,
};

use super::Walk;
use crate::{
    words::reason,
    world::{Sent, Speaker, To},
};

impl Walk {
    /// Returns a statement that is wrong in one way.
    pub(super) fn distorted(&mut self, facts: Facts, role: Role, speaker: &Speaker) -> Sent {
        let mut draft = self.world.draft(To::Run, role, facts);
        let wrong = self.number(16);
        self.distort_draft(&mut draft, wrong);
        self.last_command = Some(draft.command);
        let mut sent = self.world.sign(draft, &speaker.key);
        self.distort_signed(&mut sent, wrong, &speaker.key);
        sent
    }

    /// What the author itself signs wrongly.
    fn distort_draft(&mut self, draft: &mut Draft, wrong: usize) {
        let earlier = self.world.now.as_millis() - 1;
        let first = self.world.run.hash(Sequence::FIRST);
        match wrong {
            0 => draft.not_after = Timestamp::from_millis(earlier).unwrap(),
            1 => draft.seen = None,
            2 => draft.seen = self.world.registry.state.tip().head(),
            3 => draft.seen = first.map(|hash| Position::new(Sequence::FIRST, hash)),
            4 => draft.store = Some(StoreId::new(sha256(b"another"))),
            5 => draft.trace = TraceId::new(self.world.now, &mut self.world.random),
            6 => draft.role = self.pick(&[Role::Planner, Role::Executor, Role::Critic]),
            7 | 8 => draft.command = self.last_command.unwrap_or(draft.command),
            9 => draft.content = None,
            10 => draft.content = Some(Content::ClaimChallenged(reason())),
            _ => {}
        }
    }

    /// What happens to a statement on its way.
    fn distort_signed(&mut self, sent: &mut Sent, wrong: usize, key: &SecretKey) {
        let submission = &mut sent.submission;
        match wrong {
            11 => {
                if let Some(opening) = &mut submission.opening {
                    opening.salt = Salt::draw(&mut self.world.random);
                }
            }
            12 => {
                let signature = key.sign(Purpose::Head, &submission.statement);
                submission.proof = KeySignature { key: submission.proof.key(), signature }.into();
            }
            13 => {
                let stranger = SecretKey::generate(&mut self.world.random);
                submission.proof =
                    KeySignature::sign(&stranger, Purpose::Statement, &submission.statement).into();
            }
            14 => submission.statement.truncate(100),
            15 => {
                let text = String::from_utf8(submission.statement.clone()).unwrap();
                submission.statement = text.replace(r#""type":""#, r#""type":"later_"#).into_bytes();
                submission.proof = KeySignature::sign(key, Purpose::Statement, &submission.statement).into();
            }
            _ => {}
        }
    }
}
