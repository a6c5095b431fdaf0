//! An agent plans, is refused, asks, is answered, confirms and attests (seed 000, section 5), by the operations of
//! `demur plan`, in a store of its own.

use std::path::Path;

use demur_api::{
    call::ApiRequest,
    operation::{self, NoArguments, OfGap, OfPlan},
    plan::{BeginOperationAs, ConfirmPlanAs, GapStatus, ResolveGapAs, SubmitPlanAs},
};
use demur_clarify::uuid::Uuid;
use demur_core::limit::Text;
use demur_desk::{data::DataFolder, durable, plan::new_uuid};
use demur_ledger::{
    facts::VerificationProfile,
    name::{Operation, TraceId},
    role::Role,
    verify::Verdict,
};
use demur_rules::Rules;
use serde::Serialize;

use super::{DemoDesk, write};
use crate::{
    failure::Failure,
    output::{Output, counted_as},
    plan::{attestation_of, document},
    verify::{no_guess, quiet_guesses},
};

/// What came of it.
#[derive(Debug, Serialize)]
pub(super) struct Asked {
    /// The export of the session.
    export: String,
    /// Whether the rules, asked again, show that nothing was guessed.
    no_guess: bool,
    rounds: u64,
    session: Uuid,
    trace: TraceId,
}

/// Performs the whole session and tells it.
pub(super) fn perform(folder: &Path, output: &mut Output) -> Result<Asked, Failure> {
    let data = DataFolder::at(folder.join("plan"));
    let desk = DemoDesk::open(&data)?;
    desk.register("eve", Role::Agent)?;
    desk.register("finn", Role::Answerer)?;
    let eve = Text::try_from("eve")?;
    let mut scene = Scene { desk, session: new_uuid()?, eve, output };
    scene.tell("\nNow an agent that lacks something. It is refused and asks; it never guesses.\n")?;
    scene.submit()?;
    scene.begin_too_early()?;
    scene.answer(Some("finn"), "gap-001", "jsp-440-only")?;
    scene.answer(Some("finn"), "gap-002", "the usual one")?;
    scene.answer(None, "gap-002", "dist")?;
    scene.confirm()?;
    let made = data.path().join("dist");
    durable::create_folder(&made).map_err(|error| Failure::file("make", &made, &error))?;
    write(&made.join("index.html"), b"<!doctype html><title>Status</title>\n")?;
    let rounds = scene.attest(&made)?;
    scene.show(folder, rounds)
}

struct Scene<'a> {
    desk: DemoDesk,
    session: Uuid,
    eve: Text<1, 256>,
    output: &'a mut Output,
}

impl Scene<'_> {
    fn tell(&mut self, line: &str) -> Result<(), Failure> {
        self.output.tell(line)
    }

    const fn path(&self) -> OfPlan {
        OfPlan { session: self.session }
    }

    fn submit(&mut self) -> Result<(), Failure> {
        let rules = Rules::builtin().map_err(|error| Failure::bug(&error))?;
        let given = SubmitPlanAs {
            author: self.eve.clone(),
            plan: serde_json::from_str(PLAN).map_err(|error| Failure::bug(&error))?,
            rules: document(&rules)?,
            session_id: Some(self.session),
        };
        let told = self.desk.call(ApiRequest::<operation::SubmitPlanAs>::send(NoArguments {}, given))?;
        self.tell("  eve (agent) submits a plan: a status page under JSP 440, to be deployed with USWDS.")?;
        for gap in told.standing.gaps {
            self.tell(&format!("  the desk asks, {} {}: {}", gap.id(), gap.field(), gap.question()))?;
        }
        Ok(())
    }

    fn begin_too_early(&mut self) -> Result<(), Failure> {
        self.tell("  eve (agent) wants to build all the same.")?;
        let operation = Operation::try_from("build".to_owned()).map_err(|error| Failure::bug(&error))?;
        let given = BeginOperationAs { author: self.eve.clone(), operation, exact: None };
        match self.desk.call(ApiRequest::<operation::BeginOperationAs>::send(self.path(), given)) {
            Err(error) => self.tell(&format!("    Refused, {}: {error}", error.code())),
            Ok(_) => Err(Failure::bug(&"a blocked operation began")),
        }
    }

    /// Lets somebody answer: with a key, or a person without one.
    fn answer(&mut self, key: Option<&str>, gap: &str, answer: &str) -> Result<(), Failure> {
        let path = OfGap { session: self.session, gap: gap.to_owned() };
        let given = ResolveGapAs {
            answer: Some(answer.to_owned()),
            author: key.map(Text::try_from).transpose()?,
            by: Text::try_from(SOMEBODY)?,
            note: None,
        };
        let told = self.desk.call(ApiRequest::<operation::ResolveGapAs>::send(path, given))?;
        let became = match told.status {
            GapStatus::Resolved => "settled",
            GapStatus::Escalated => "recorded, and asked again: it names nothing",
            GapStatus::Revoked => "taken back",
        };
        let who = key.map_or(SOMEBODY.to_owned(), |name| format!("{name} (answerer)"));
        self.tell(&format!("  {who} answers {gap}: \"{answer}\". {became}."))
    }

    fn confirm(&mut self) -> Result<(), Failure> {
        let given = ConfirmPlanAs { author: self.eve.clone() };
        self.desk.call(ApiRequest::<operation::ConfirmPlanAs>::send(self.path(), given))?;
        self.tell("  eve (agent) confirms the plan; the record says where every value came from.")
    }

    fn attest(&mut self, made: &Path) -> Result<u64, Failure> {
        let given = attestation_of(made, self.eve.clone(), "1.0.0".try_into()?)?;
        let attested = self.desk.call(ApiRequest::<operation::AttestPlanAs>::send(self.path(), given))?;
        let rounds = attested.attestation.inputs.clarification_rounds();
        let told = counted_as(rounds, "round", "rounds");
        self.tell(&format!("  eve (agent) attests what she made, after {told} of clarification."))?;
        Ok(rounds)
    }

    /// Exports the session, verifies the file and asks the rules in it again.
    fn show(&mut self, folder: &Path, rounds: u64) -> Result<Asked, Failure> {
        let trace = TraceId::of_session(self.session.as_u128());
        let path = folder.join("plan.jsonl");
        write(&path, &self.desk.export(trace)?)?;
        let guesses = quiet_guesses(&path)?;
        let paint = self.output.paint();
        let headline = no_guess::lines(&guesses, paint).into_iter().next().unwrap_or_default();
        self.tell(&format!("\n  From the file alone: {headline}."))?;
        Ok(Asked {
            export: path.to_string_lossy().into_owned(),
            no_guess: guesses.verdict(VerificationProfile::Default) == Verdict::Pass,
            rounds,
            session: self.session,
            trace,
        })
    }
}

/// Who answers without a key.
pub(super) const SOMEBODY: &str = "somebody at the terminal";
/// The example of the seed, and a build without a folder: the plan that the README submits.
const PLAN: &str = include_str!("../../../../examples/plan.json");
