//! Answers that a passkey signed: what the check at the door costs beside that of an author's key, and what it costs to verify a
//! file of ten thousand of them. Processor time.

use std::{hint::black_box, io::Write, sync::Arc, time::Instant};

use anyhow::{Result, ensure};
use demur_bench::{
    clock::spent_by_thread,
    table::{Table, met},
};
use demur_core::{commitment::Salt, id::Ulid, random::Seeded};
use demur_ledger::{
    admission::Checked,
    author::{Draft, Prepared},
    content::{LabelContent, NameContent},
    event_type::{Content, Facts},
    facts::{Assurance, PasskeyRooted, PersonAdded, PersonRole, Question, QuestionAnswered, QuestionAsked},
    name::{CommandId, PersonId, Position, StoreId, TraceId},
    role::Role,
    statement::Submission,
    verify::{Options, Verdict, verify_whole},
};
use demur_sequencer::System as _;
use demur_store::{contract::Store, memory::MemoryStore};
use demur_testing::{
    authenticator::Authenticator,
    hall::{answer as answered, answers, question},
    inquiry::Inquiry,
    office::Clock,
};

/// Measures both algorithms.
pub(crate) fn run(out: &mut impl Write) -> Result<()> {
    let mut table =
        Table::new(["passkey", "check at the door, median", "p99", "bar 1 ms", "verify 10,000", "per event"]);
    for (name, passkey) in [("ES256", Authenticator::es256(1)), ("Ed25519", Authenticator::ed25519(2))] {
        eprintln!("passkey: {name}");
        table.row(measure(name, &passkey)?);
    }
    table.write(out)?;
    Ok(())
}

fn measure(name: &str, passkey: &Authenticator) -> Result<[String; 6]> {
    let inquiry = Inquiry::new(&(Arc::new(MemoryStore::new()) as Arc<dyn Store>));
    let sequencer = &inquiry.office.sequencer;
    bring_in(&inquiry, passkey)?;
    let (mut run, mut times) = (inquiry.trace(), Vec::new());
    for _ in 0..ANSWERS {
        let asked =
            inquiry.say(0, &mut run, QuestionAsked(Question { assurance: Assurance::Passkey, ..question() }));
        let submission = answer(&inquiry, passkey, (run.trace, asked))?;
        let (registry, sent) = (sequencer.registry(), submission.clone());
        let (checked, time) = spent_by_thread(|| Checked::new(black_box(sent), Some(&registry)))?;
        ensure!(checked.is_ok(), "expected an assertion that holds");
        times.push(time);
        run.seen = Some(sequencer.submit(submission, None)?.position);
    }
    times.sort_unstable();
    let [median, p99] = [times.len() / 2, times.len() * 99 / 100].map(|at| times[at].as_secs_f64() * 1e6);
    let mut file = Vec::new();
    sequencer.export(run.trace, "bench".try_into()?, &mut file, &mut |_| ())?;
    let began = Instant::now();
    let report = verify_whole(&file, &Options::default())?;
    let elapsed = began.elapsed().as_secs_f64();
    ensure!(report.verdict != Verdict::Fail, "expected a file that holds: {}", report.to_text());
    Ok([
        name.to_owned(),
        format!("{median:.0} us"),
        format!("{p99:.0} us"),
        met(p99 < BAR_MICROS).to_owned(),
        format!("{elapsed:.2} s"),
        format!("{:.0} us", elapsed * 1e6 / f64::from(u32::try_from(2 * ANSWERS)?)),
    ])
}

/// Has a passkey become the first of the store.
fn bring_in(inquiry: &Inquiry, passkey: &Authenticator) -> Result<()> {
    let (sequencer, clock) = (&inquiry.office.sequencer, &inquiry.office.clock);
    let person = person();
    let name = Content::PersonAdded(NameContent { name: "ada".try_into()? });
    sequencer.state(PersonAdded { person, role: PersonRole::Operator }, Some(name))?;
    let registry = sequencer.registry();
    let label = Content::PasskeyRooted(LabelContent { label: "phone".try_into()? });
    let facts = PasskeyRooted(passkey.enrolment(person)).into();
    let prepared = prepare(clock, (registry.store(), registry.trace(), registry.head()), (facts, label))?;
    sequencer.submit(passkey.approve_one(prepared), None)?;
    Ok(())
}

/// Returns an answer that a passkey has signed.
fn answer(
    inquiry: &Inquiry,
    passkey: &Authenticator,
    (trace, asked): (TraceId, Position),
) -> Result<Submission> {
    let facts = QuestionAnswered { attribution: None, ..answered(asked, Assurance::Passkey) };
    let store = inquiry.office.sequencer.registry().store();
    let content = Content::QuestionAnswered(answers("there"));
    let prepared = prepare(&inquiry.office.clock, (store, trace, asked), (facts.into(), content))?;
    Ok(passkey.approve_one(prepared))
}

fn prepare(
    clock: &Clock,
    (store, trace, head): (StoreId, TraceId, Position),
    (facts, content): (Facts, Content),
) -> Result<Prepared> {
    let (now, mut seed) = (clock.now(), [0; 32]);
    clock.fill(&mut seed);
    let mut random = Seeded::new(seed);
    let draft = Draft {
        command: CommandId::new(now, &mut random),
        content: Some(content),
        facts,
        not_after: now.plus_millis(600_000),
        role: Role::Person,
        seen: Some(head),
        store: Some(store),
        trace,
    };
    Ok(draft.prepare(Salt::draw(&mut random))?)
}

fn person() -> PersonId {
    PersonId::from(Ulid::from_u128(7))
}

/// How many questions are asked and answered.
const ANSWERS: usize = 10_000;
/// What a check at the door may cost, in microseconds.
const BAR_MICROS: f64 = 1000.0;
