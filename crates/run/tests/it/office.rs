//! A desk in memory at its end of the lines: four authors, a run, and answers to what an agent submits.

use std::io::{BufRead, Write};

use demur_core::{
    hash::{Digest, sha256},
    key::SecretKey,
    limit::{List, Text, Whole},
    random::Seeded,
    time::Timestamp,
};
use demur_ledger::{
    author::{Artifact, Author, Place},
    content::{
        ArtifactContent, IntentContent, PolicyContent, PolicyDocument, ProposalContent,
        ProposalReviewContent, ReasonContent, RefusalContent, SessionContent,
    },
    desk::{Desk, DeskError, Recorded, Run},
    event_type::{Content, EventType, Facts},
    facts::{
        Attribution, CommandRefused, Door, Participant, Policy, PolicyRecorded, ProposalCreated,
        ProposalDecision, ProposalReviewed, Risk, Root, SessionAborted, SessionInitialized, ToolIntentSigned,
    },
    name::{Position, PrincipalId, Sequence, TraceId},
    role::Role,
    state::Phase,
    statement::Statement,
};
use demur_run::{
    line::{
        End, FromAgent, FromDesk, Hello, PROTOCOL, Refused, ShownArtifact, ShownEvent, Submit, Turn,
        read_line,
    },
    role::Input,
};

/// A desk with four registered authors and one run.
pub(crate) struct Office {
    desk: Desk,
    run: Run,
    secrets: Vec<(Role, PrincipalId, SecretKey)>,
    /// Everything there is to show, in order.
    shown: Vec<FromDesk>,
    now: Timestamp,
    random: Seeded,
    /// The policy that is recorded with the opening, where it names tools.
    pub(crate) document: Option<PolicyDocument>,
}

impl Office {
    /// Returns an office whose run nobody has opened.
    pub(crate) fn new() -> Self {
        let mut random = Seeded::from_number(11);
        let now = "2026-11-15T09:00:00.000Z".parse().unwrap();
        let key = SecretKey::generate(&mut random);
        let (desk, _) = Desk::create(key, None, "an office", now, &mut random).unwrap();
        let run = Run::new(TraceId::new(now, &mut random));
        let (secrets, shown) = (Vec::new(), Vec::new());
        let mut office = Self { desk, run, secrets, shown, now, random, document: None };
        for role in Role::OF_A_RUN {
            let principal = PrincipalId::new(now, &mut office.random);
            office.secrets.push((role, principal, SecretKey::generate(&mut office.random)));
            let chain = office.desk.registry_chain();
            let place = Place { store: office.desk.store(), trace: chain.trace(), seen: chain.head(), now };
            let key = office.author(role).register(&place, None, role.as_str(), &mut office.random).unwrap();
            office.desk.admit_key(key, now).unwrap();
        }
        office
    }

    /// Returns an office whose planner has proposed something.
    pub(crate) fn with_proposal() -> Self {
        let mut office = Self::new();
        let Hello { participants, policy, .. } = office.hello(Role::Planner);
        let content = SessionContent {
            constraints: list([]),
            objective: text("know how long the poem is"),
            task: text("count"),
        };
        let facts = SessionInitialized { participants, policy };
        office.say(Role::Planner, facts, Content::SessionInitialized(content)).unwrap();
        office.propose(&["wc", "tidy"]);
        office
    }

    /// Returns an office whose critic has approved the proposal.
    pub(crate) fn approved() -> Self {
        let mut office = Self::with_proposal();
        let content = ProposalReviewContent { conditions: list([]), rationale: text("fine") };
        let facts = ProposalReviewed {
            conditions: whole(0),
            decision: ProposalDecision::Approved,
            proposal: 2.into(),
        };
        office.say(Role::Critic, facts, Content::ProposalReviewed(content)).unwrap();
        office
    }

    /// Has the planner propose to use these tools.
    pub(crate) fn propose(&mut self, tools: &[&str]) -> Sequence {
        let content = ProposalContent {
            assumptions: list([]),
            expected_evidence: list([text("the count")]),
            objective: text("count the lines of the poem"),
            required_tools: list(tools.iter().map(|tool| text(tool)).collect::<Vec<_>>()),
        };
        let facts = ProposalCreated { fallback_for: None, replaces: None };
        self.say(Role::Planner, facts, Content::ProposalCreated(content)).unwrap().sequence
    }

    /// Returns the author of a role.
    pub(crate) fn author(&self, role: Role) -> Author {
        let (_, principal, secret) = self.secrets.iter().find(|(of, ..)| *of == role).unwrap();
        Author::new(secret.clone(), *principal, role)
    }

    /// Returns the key file of a role, as `demur keys new --out` writes it.
    pub(crate) fn key_file(&self, role: Role) -> String {
        let (_, principal, secret) = self.secrets.iter().find(|(of, ..)| *of == role).unwrap();
        let seed = Digest::from_bytes(*secret.seed());
        format!(
            "{{\"algorithm\":\"ed25519\",\"name\":\"{role}\",\"principal\":\"{principal}\",\"role\":\"{role}\",\"seed\":\"{seed}\"}}\n"
        )
    }

    /// Returns what the desk says first to the agent of a role.
    pub(crate) fn hello(&self, role: Role) -> Hello {
        let mut participants: Vec<Participant> = self
            .secrets
            .iter()
            .map(|(role, principal, _)| Participant { principal: *principal, role: *role })
            .collect();
        participants.sort();
        Hello {
            constraints: list([]),
            participants: participants.try_into().unwrap(),
            policy: Policy {
                approval_from: Risk::Low,
                evidence_minimum: whole(1),
                fallback: false,
                retry_limit: whole(1),
            },
            principal: self.author(role).principal(),
            protocol: PROTOCOL,
            role,
            store: self.desk.store(),
            trace: self.run.chain().trace(),
        }
    }

    /// Returns where the run stands.
    pub(crate) fn phase(&self) -> Phase {
        self.run.state().phase().unwrap_or(Phase::Initialized)
    }

    /// Ends the run on the operator's word.
    pub(crate) fn abort(&mut self, reason: &str) {
        let way = Attribution::new(Door::Socket, Root::SameUser);
        let facts = SessionAborted { attribution: Some(Box::new(way)) };
        let said = (EventType::SessionAborted, Role::Operator, facts.into());
        let content = Content::SessionAborted(ReasonContent { reason: text(reason) });
        let aborted = self.desk.record(&mut self.run, said, &content, None, self.now, &mut self.random);
        self.show(aborted.unwrap(), None);
    }

    /// Returns everything there is to show.
    pub(crate) fn lines(&self) -> &[FromDesk] {
        &self.shown
    }

    /// Returns the facts of everything recorded, oldest first.
    pub(crate) fn facts(&self) -> Vec<(Sequence, Facts)> {
        let events = self.shown.iter().filter_map(|line| match line {
            FromDesk::Event(shown) => Some(&shown.event),
            _ => None,
        });
        events.map(|event| (event.position().sequence, event.said().unwrap().facts.clone())).collect()
    }

    /// Returns how many events are of this type.
    pub(crate) fn count(&self, kind: EventType) -> usize {
        self.facts().iter().filter(|(_, facts)| facts.event_type() == Some(kind)).count()
    }

    /// Records what a role says.
    pub(crate) fn say(
        &mut self,
        role: Role,
        facts: impl Into<Facts>,
        content: impl Into<Option<Content>>,
    ) -> Result<Position, Refused> {
        let place = self.place();
        let submission = self.author(role).say(&place, facts, content.into(), &mut self.random).unwrap();
        self.submit(Submit { submission, artifact: None })
    }

    /// Records bytes of the executor's.
    pub(crate) fn store(&mut self, name: &str, bytes: &[u8]) -> Sequence {
        let artifact = Artifact::new(bytes.to_vec(), &mut self.random);
        let content = ArtifactContent {
            media_type: text("application/json"),
            name: text(name),
            size: whole(bytes.len() as u64),
        };
        let (place, content) = (self.place(), Some(Content::ArtifactRecorded(content)));
        let author = self.author(Role::Executor);
        let submission = author.say(&place, artifact.facts(), content, &mut self.random).unwrap();
        self.submit(Submit { submission, artifact: Some(artifact) }).unwrap().sequence
    }

    /// Records the auditor's report.
    pub(crate) fn report(&mut self, bytes: &[u8]) -> Sequence {
        let report = Artifact::new(bytes.to_vec(), &mut self.random);
        let place = self.place();
        let said = self.author(Role::Auditor).say(&place, report.report_facts(), None, &mut self.random);
        self.submit(Submit { submission: said.unwrap(), artifact: Some(report) }).unwrap().sequence
    }

    /// Records the input of a call and has the executor say that it will make it.
    pub(crate) fn intend(&mut self, call: &str, command: &[&str], risk: Risk) -> Sequence {
        let command = command.iter().map(ToString::to_string).collect();
        let input = Input { call: call.to_owned(), command, stdin: String::new() };
        let (bytes, _) = input.normalized().unwrap();
        self.store(&format!("{call}.input.json"), &bytes);
        self.intend_with(&bytes, risk)
    }

    /// Has the executor say that it will call the proposed tool with this input.
    pub(crate) fn intend_with(&mut self, input: &[u8], risk: Risk) -> Sequence {
        let facts = ToolIntentSigned { meets: list([]), proposal: 2.into(), retries: None, risk };
        let content = IntentContent {
            input_hash: sha256(input),
            justification: text("the plan asks for it"),
            tool: text("wc"),
        };
        self.say(Role::Executor, facts, Content::ToolIntentSigned(content)).unwrap().sequence
    }

    /// Records or refuses what an agent submits. A refusal is recorded too.
    pub(crate) fn submit(&mut self, submit: Submit) -> Result<Position, Refused> {
        self.now = self.now.plus_millis(10);
        let statement = Statement::parse(&submit.submission.statement);
        if let Some(commitment) = statement.as_ref().ok().and_then(|said| said.facts.recorded_bytes()) {
            let artifact = submit.artifact.as_ref().expect("an artifact comes with its bytes");
            assert_eq!(artifact.commitment(), *commitment, "the bytes open what the statement commits to");
        }
        let Self { desk, run, now, .. } = self;
        let recorded = match &submit.artifact {
            Some(artifact) => desk.admit_artifact(run, submit.submission, artifact, *now),
            None => desk.admit(run, submit.submission, *now),
        };
        match recorded.map_err(|error| refused(&error)) {
            Ok(recorded) => {
                let position = recorded.event.position();
                self.show(recorded, submit.artifact);
                if let Ok(Statement { facts: Facts::SessionInitialized(facts), .. }) = &statement {
                    self.record_policy(facts.policy);
                }
                Ok(position)
            }
            Err(refused) => {
                if let Ok(statement) = statement {
                    self.note(&refused, &statement);
                }
                Err(refused)
            }
        }
    }

    /// The desk records the policy right after the opening.
    fn record_policy(&mut self, numbers: Policy) {
        let document = self.document.clone().unwrap_or_else(|| PolicyDocument::of_numbers(numbers));
        let content = Content::PolicyRecorded(PolicyContent { document, hash: None });
        let said = (EventType::PolicyRecorded, Role::Desk, PolicyRecorded {}.into());
        let recorded = self.desk.record(&mut self.run, said, &content, None, self.now, &mut self.random);
        self.show(recorded.unwrap(), None);
    }

    fn note(&mut self, refused: &Refused, statement: &Statement) {
        let principal = self.author(statement.role).principal();
        let facts = CommandRefused { code: refused.code.clone(), command: statement.command, principal };
        let content =
            RefusalContent { field: refused.field.as_deref().map(text), message: text(&refused.message) };
        let said = (EventType::CommandRefused, Role::Desk, facts.into());
        let content = Content::CommandRefused(content);
        let noted = self.desk.record(&mut self.run, said, &content, None, self.now, &mut self.random);
        self.show(noted.unwrap(), None);
    }

    fn show(&mut self, recorded: Recorded, artifact: Option<Artifact>) {
        let sequence = recorded.event.position().sequence;
        let shown = ShownEvent::new(recorded.event, recorded.opening);
        self.shown.push(FromDesk::Event(Box::new(shown)));
        self.shown
            .extend(artifact.map(|artifact| FromDesk::Artifact(ShownArtifact::new(sequence, artifact))));
    }

    fn place(&self) -> Place {
        let chain = self.run.chain();
        Place { store: self.desk.store(), trace: chain.trace(), seen: chain.head(), now: self.now }
    }
}

/// The desk's end of the lines to one agent.
pub(crate) struct Line<R, W> {
    reader: R,
    writer: W,
    /// How many lines of the trace the agent has been shown.
    shown: usize,
    /// Both directions, in order: `>` from the desk, `<` from the agent.
    pub(crate) transcript: Vec<(char, String)>,
}

impl<R: BufRead, W: Write> Line<R, W> {
    /// Returns the lines to the agent of a role, which was greeted.
    pub(crate) fn greet(reader: R, writer: W, office: &Office, role: Role) -> Self {
        let mut line = Self { reader, writer, shown: 0, transcript: Vec::new() };
        line.send(&FromDesk::Hello(office.hello(role)));
        line
    }

    /// Gives the agent its turn; returns what became of each statement it submitted.
    pub(crate) fn turn(&mut self, office: &mut Office) -> Vec<Result<Sequence, String>> {
        self.catch_up(office);
        let head = office.run.chain().head();
        self.send(&FromDesk::Turn(Turn { head, now: office.now, phase: office.phase() }));
        let mut answers = Vec::new();
        loop {
            let line = read_line(&mut self.reader).unwrap().expect("the agent ended in its turn");
            self.transcript.push(('<', String::from_utf8(line.clone()).unwrap()));
            let FromAgent::Submit(submit) = FromAgent::parse(&line).unwrap() else { return answers };
            let answer = office.submit(*submit);
            self.catch_up(office);
            answers.push(match answer {
                Ok(position) => {
                    self.send(&FromDesk::Recorded(position));
                    Ok(position.sequence)
                }
                Err(refused) => {
                    let code = refused.code.as_str().to_owned();
                    self.send(&FromDesk::Refused(refused));
                    Err(code)
                }
            });
        }
    }

    /// Shows what is new, says that the run is over and hangs up.
    pub(crate) fn end(mut self, office: &Office) -> Vec<(char, String)> {
        self.catch_up(office);
        self.send(&FromDesk::End(End { phase: office.phase() }));
        self.transcript
    }

    fn catch_up(&mut self, office: &Office) {
        for line in &office.shown[self.shown..] {
            self.send(line);
        }
        self.shown = office.shown.len();
    }

    fn send(&mut self, line: &FromDesk) {
        let bytes = line.to_line().unwrap();
        self.writer.write_all(&bytes).unwrap();
        self.writer.flush().unwrap();
        self.transcript.push(('>', String::from_utf8(bytes).unwrap().trim_end().to_owned()));
    }
}

fn refused(error: &DeskError) -> Refused {
    let (code, field, cure) = match error {
        DeskError::Admission(error) => (error.code(), error.field(), error.cure()),
        DeskError::Guard(error) => (error.code(), error.field(), error.cure()),
        error => panic!("{error}"),
    };
    Refused {
        code: code.to_owned().try_into().unwrap(),
        cure: cure.to_owned(),
        field: field.map(str::to_owned),
        message: error.to_string(),
    }
}

/// Returns a number in range.
pub(crate) fn whole<const MIN: u64, const MAX: u64>(number: u64) -> Whole<MIN, MAX> {
    number.try_into().unwrap()
}

/// Returns a text in range.
pub(crate) fn text<const MIN: usize, const MAX: usize>(text: &str) -> Text<MIN, MAX> {
    text.try_into().unwrap()
}

/// Returns a list in range.
pub(crate) fn list<T, const MIN: usize, const MAX: usize>(items: impl Into<Vec<T>>) -> List<T, MIN, MAX> {
    items.into().try_into().unwrap()
}

/// Returns how often a proof is to be repeated: fully under `cargo xtask prove`, else a reduced number.
#[expect(clippy::disallowed_methods, reason = "the one place where the tests read the environment")]
pub(crate) fn rounds(full: usize, reduced: usize) -> usize {
    if std::env::var("DEMUR_PROOF").as_deref() == Ok("full") { full } else { reduced }
}
