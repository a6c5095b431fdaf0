//! An agent plans, is refused, asks, is answered, confirms and attests (seed 000, section 5), by the same code as
//! `demur plan`, in a store of its own.

use std::{path::Path, sync::Arc};

use demur_core::limit::Text;
use demur_desk::{
    plan::{self, Resolution, Submission},
    session::{self, Speaker},
};
use demur_ledger::{
    author::Author,
    facts::Assurance,
    name::{Operation, TraceId},
    role::Role,
};
use demur_plan::act::Judged;
use demur_rules::{Plan, Rules};
use serde::Serialize;

use super::write;
use crate::{
    data::DataFolder,
    durable,
    failure::Failure,
    output::{Output, counted_as},
    owner::Owner,
    plan::attest_folder,
    roster::software,
    verify::{no_guess, quietly},
};

/// What came of it.
#[derive(Debug, Serialize)]
pub(super) struct Asked {
    /// The export of the session.
    export: String,
    /// Whether the rules, asked again, show that nothing was guessed.
    no_guess: bool,
    rounds: u64,
    session: String,
    trace: TraceId,
}

/// Performs the whole session and tells it.
pub(super) fn perform(folder: &Path, output: &mut Output) -> Result<Asked, Failure> {
    let data = DataFolder::at(folder.join("plan"));
    let (owner, _) = Owner::open_or_create(&data)?;
    let eve = Arc::new(owner.enrol("eve", Role::Agent)?);
    let finn = Speaker::Key(Arc::new(owner.enrol("finn", Role::Answerer)?));
    let name = Text::try_from("somebody at the terminal")?;
    let somebody = Speaker::Person { name, assurance: Assurance::Terminal };
    let mut scene = Scene { owner: &owner, uuid: plan::new_uuid()?, output };
    scene.tell("\nNow an agent that lacks something. It is refused and asks; it never guesses.\n")?;
    scene.submit(&eve)?;
    scene.begin_too_early(&eve)?;
    scene.answer("finn (answerer)", &finn, "gap-001", "jsp-440-only")?;
    scene.answer("finn (answerer)", &finn, "gap-002", "the usual one")?;
    scene.answer("somebody at the terminal", &somebody, "gap-002", "dist")?;
    scene.confirm(&eve)?;
    let made = data.path().join("dist");
    durable::create_folder(&made).map_err(|error| Failure::file("make", &made, &error))?;
    write(&made.join("index.html"), b"<!doctype html><title>Status</title>\n")?;
    let rounds = scene.attest(&eve, &made)?;
    scene.show(folder, rounds)
}

struct Scene<'a> {
    owner: &'a Owner,
    uuid: demur_clarify::uuid::Uuid,
    output: &'a mut Output,
}

impl Scene<'_> {
    fn tell(&mut self, line: &str) -> Result<(), Failure> {
        self.output.tell(line)
    }

    fn submit(&mut self, eve: &Arc<Author>) -> Result<(), Failure> {
        let plan = Plan::read(PLAN.as_bytes()).map_err(demur_plan::Error::from)?;
        let rules = Rules::builtin().map_err(|error| Failure::bug(&error))?;
        let name = "eve".parse().map_err(|error| Failure::bug(&error))?;
        let (author, session) = (Arc::clone(eve), Some(self.uuid));
        let submission = Submission { author, name: &name, plan: &plan, rules: &rules, session };
        let session = plan::submit(self.owner, submission)?;
        self.tell("  eve (agent) submits a plan: a status page under JSP 440, to be deployed with USWDS.")?;
        let document = session.document(&session::signer(self.owner.ledger(), self.owner.keyring())?)?;
        for gap in document.gaps() {
            self.tell(&format!("  the desk asks, {} {}: {}", gap.id(), gap.field(), gap.question()))?;
        }
        Ok(())
    }

    fn begin_too_early(&mut self, eve: &Arc<Author>) -> Result<(), Failure> {
        self.tell("  eve (agent) wants to build all the same.")?;
        let operation = Operation::try_from("build".to_owned()).map_err(|error| Failure::bug(&error))?;
        match plan::begin(self.owner, Arc::clone(eve), self.uuid, &operation) {
            Err(error) => self.tell(&format!("    Refused, {}: {error}", error.code)),
            Ok(_) => Err(Failure::bug(&"a blocked operation began")),
        }
    }

    fn answer(&mut self, who: &str, speaker: &Speaker, gap: &str, answer: &str) -> Result<(), Failure> {
        let resolution = Resolution { session: self.uuid, gap, answer: Some(answer), note: None };
        let (_, judged) = plan::resolve(self.owner, speaker, &resolution)?;
        let became = match judged {
            Judged::Resolved => "settled".to_owned(),
            Judged::Escalated(_) => "recorded, and asked again: it names nothing".to_owned(),
        };
        self.tell(&format!("  {who} answers {gap}: \"{answer}\". {became}."))
    }

    fn confirm(&mut self, eve: &Arc<Author>) -> Result<(), Failure> {
        plan::confirm(self.owner, Arc::clone(eve), self.uuid)?;
        self.tell("  eve (agent) confirms the plan; the record says where every value came from.")
    }

    fn attest(&mut self, eve: &Arc<Author>, made: &Path) -> Result<u64, Failure> {
        let (_, attestation) =
            attest_folder(self.owner, Arc::clone(eve), self.uuid, made, &"1.0.0".try_into()?)?;
        let rounds = attestation.inputs.clarification_rounds();
        let told = counted_as(rounds, "round", "rounds");
        self.tell(&format!("  eve (agent) attests what she made, after {told} of clarification."))?;
        Ok(rounds)
    }

    /// Exports the session, verifies the file and asks the rules in it again.
    fn show(&mut self, folder: &Path, rounds: u64) -> Result<Asked, Failure> {
        let trace = session::trace_of(self.uuid);
        let mut bytes = Vec::new();
        self.owner.ledger().export(trace, software()?, &mut bytes, &mut |_| ())?;
        let path = folder.join("plan.jsonl");
        write(&path, &bytes)?;
        let guesses = no_guess::guesses(&path, &quietly(&path)?, None)?;
        let paint = self.output.paint();
        let headline = no_guess::lines(&guesses, paint).into_iter().next().unwrap_or_default();
        self.tell(&format!("\n  From the file alone: {headline}."))?;
        Ok(Asked {
            export: path.to_string_lossy().into_owned(),
            no_guess: guesses.holds(),
            rounds,
            session: self.uuid.to_string(),
            trace,
        })
    }
}

/// The example of the seed, and a build without a folder: the plan that the README submits.
const PLAN: &str = include_str!("../../../../examples/plan.json");
