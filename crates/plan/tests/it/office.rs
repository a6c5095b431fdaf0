//! A desk in memory, an agent and an answerer: performs what a session says next.

use demur_clarify::{seal::Signer, uuid::Uuid};
use demur_core::{key::SecretKey, limit::Text, random::Seeded, time::Timestamp};
use demur_engine::command::{Saying, Signing};
use demur_ledger::{
    author::{Author, Place},
    content::NameContent,
    desk::{Desk, DeskError, Run},
    envelope::Event,
    event_type::{Content, EventType, Facts},
    facts::{Assurance, Attribution, ClientBound, Door, Root},
    name::{ClientId, PrincipalId, Sequence, TraceId},
    role::Role,
};
use demur_plan::{
    Session,
    act::{self, Act, Judged, Voice},
    no_guess::NoGuess,
    paper::DeskHand,
};
use demur_rules::{Pack, Plan, Rules};
use serde_json::Value;

/// Everything a test needs.
pub(crate) struct Office {
    desk: Desk,
    run: Run,
    agent: Author,
    answerer: Author,
    /// How what a person says comes.
    pub(crate) way: Attribution,
    pub(crate) events: Vec<(Event, Option<Content>)>,
    now: Timestamp,
    random: Seeded,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Agent,
    Answerer,
    Person,
}

impl Office {
    pub(crate) fn new() -> Self {
        let mut random = Seeded::from_number(5);
        // The time in the seed's example.
        let now: demur_clarify::time::Time = "2026-05-10T15:00:00Z".parse().unwrap();
        let now = now.as_timestamp();
        let (mut desk, _) =
            Desk::create(SecretKey::from_seed(&[7; 32]), None, "an office", now, &mut random).unwrap();
        let run = Run::new(TraceId::of_session(uuid().as_u128()));
        let mut author = |role| {
            let principal = PrincipalId::new(now, &mut random);
            let author = Author::new(SecretKey::generate(&mut random), principal, role);
            let chain = desk.registry_chain();
            let place = Place { store: desk.store(), trace: chain.trace(), seen: chain.head(), now };
            let submission = author.register(&place, None, "somebody", &mut random).unwrap();
            desk.admit_key(submission, now).unwrap();
            author
        };
        let (agent, answerer) = (author(Role::Agent), author(Role::Answerer));
        let way = Attribution::new(Door::Socket, Root::SameUser);
        Self { desk, run, agent, answerer, way, events: Vec::new(), now, random }
    }

    /// Returns an office with this plan submitted under the built-in rules.
    pub(crate) fn with(plan: &Value) -> Self {
        Self::quiet(plan, |_| {})
    }

    /// Returns one whose desk does something to what the rules told it to say.
    pub(crate) fn quiet(plan: &Value, change: impl FnOnce(&mut Vec<Saying>)) -> Self {
        Self::under(&Rules::builtin().unwrap(), plan, change)
    }

    /// Returns one under rules of this pack alone.
    pub(crate) fn with_pack(toml: &str, cedar: &str, plan: &Value) -> Self {
        let toml = format!("[pack]\nname = \"own\"\nversion = \"1\"\n{toml}");
        let files = [("pack.toml", toml.as_str()), ("own.cedar", cedar)];
        Self::under(&Rules::layer(&[Pack::read(files).unwrap()]).unwrap(), plan, |_| {})
    }

    /// Returns one under rules of this pack alone, whose desk does something to what the rules told it to say.
    pub(crate) fn lying(
        (toml, cedar): (&str, &str),
        plan: &Value,
        change: impl FnOnce(&mut Vec<Saying>),
    ) -> Self {
        let files = [("pack.toml", toml), ("own.cedar", cedar)];
        Self::under(&Rules::layer(&[Pack::read(files).unwrap()]).unwrap(), plan, change)
    }

    fn under(rules: &Rules, plan: &Value, change: impl FnOnce(&mut Vec<Saying>)) -> Self {
        let mut office = Self::new();
        let plan = Plan::read(plan.to_string().as_bytes()).unwrap();
        let mut act = act::submit(uuid(), &"builder-01".parse().unwrap(), &plan, rules).unwrap();
        change(&mut act.consequences.sayings);
        office.perform(Who::Agent, act).unwrap();
        office
    }

    /// Has the registry say that agent and answerer are keys of one client, whose id it returns.
    pub(crate) fn bind_both(&mut self) -> ClientId {
        let client = ClientId::new(self.now, &mut self.random);
        for key in [&self.agent, &self.answerer].map(|author| author.public().fingerprint()) {
            let name = NameContent { name: "builder".try_into().unwrap() };
            let content = Some(Content::ClientBound(name));
            let facts = ClientBound { client, key }.into();
            self.desk.state_key(facts, content, self.now, &mut self.random).unwrap();
        }
        client
    }

    /// Returns what the file shows about guesses, with its registry.
    pub(crate) fn guesses(&self) -> NoGuess {
        NoGuess::check_file(self.events.clone(), 1 << 20, Some(self.desk.registry())).unwrap()
    }

    /// Returns what time it is.
    pub(crate) const fn now(&self) -> Timestamp {
        self.now
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, millis: u64) {
        self.now = self.now.plus_millis(millis);
    }

    /// Returns the key that signs the documents.
    pub(crate) fn signer(&self) -> Signer {
        Signer::new("wwa-scaffold-v1.0.0".parse().unwrap(), self.desk.key().clone())
    }

    /// Returns the rules of the session.
    pub(crate) fn rules(&self) -> Rules {
        let document = self.events.iter().find_map(|(_, content)| match content {
            Some(Content::RulesRecorded(content)) => Some(&content.document),
            _ => None,
        });
        Rules::from_document(&demur_core::canonical::to_vec(document.unwrap()).unwrap()).unwrap()
    }

    pub(crate) fn session(&self) -> Session {
        Session::read(self.events.clone()).unwrap()
    }

    /// Records what somebody says and what the desk adds.
    pub(crate) fn perform(&mut self, who: Who, act: Act) -> Result<Sequence, DeskError> {
        self.now = self.now.plus_millis(1000);
        let act = self.signed(who, act);
        self.record(who, act)
    }

    /// Has the desk sign what belongs to an act.
    pub(crate) fn signed(&self, who: Who, act: Act) -> Act {
        let desk = self.signer();
        let speaker = match who {
            Who::Person => "somebody".to_owned(),
            Who::Agent => self.agent.principal().to_string(),
            Who::Answerer => self.answerer.principal().to_string(),
        };
        let signing = Signing { at: self.now, registry: self.desk.registry_chain().head().unwrap() };
        let hand = DeskHand { desk: &desk, signing, speaker: &speaker, attestation: uuid() };
        act.signed(&hand).unwrap()
    }

    /// Records what somebody says, and what the desk adds, as it is.
    pub(crate) fn record(&mut self, who: Who, act: Act) -> Result<Sequence, DeskError> {
        let Act { mut facts, content, consequences, .. } = act;
        let rejects = matches!(facts, Facts::AnswerRejected(_) | Facts::QuestionEscalated(_));
        if who == Who::Person {
            facts.attribute(self.way.clone());
        }
        let recorded = if who == Who::Person || rejects {
            let kind = facts.event_type().unwrap();
            let role = if rejects { Role::Desk } else { Role::Person };
            let said = (kind, role, facts);
            self.desk.record(&mut self.run, said, &content, None, self.now, &mut self.random)?
        } else {
            let author = if who == Who::Agent { &self.agent } else { &self.answerer };
            let chain = self.run.chain();
            let (store, trace, seen, now) = (self.desk.store(), chain.trace(), chain.head(), self.now);
            let place = Place { store, trace, seen, now };
            let submission = author.say(&place, facts, Some(content.clone()), &mut self.random).unwrap();
            self.desk.admit(&mut self.run, submission, self.now)?
        };
        let at = recorded.event.position().sequence;
        self.events.push((recorded.event, Some(content)));
        for saying in consequences.sayings {
            let kind: EventType = saying.facts.event_type().unwrap();
            let content = saying.content.unwrap();
            let said = (kind, saying.role, saying.facts);
            let recorded =
                self.desk.record(&mut self.run, said, &content, Some(at), self.now, &mut self.random)?;
            self.events.push((recorded.event, Some(content)));
        }
        Ok(at)
    }

    /// Has the desk say what another desk said.
    pub(crate) fn desk_says(&mut self, (event, content): (Event, Option<Content>)) {
        let said = event.said().unwrap();
        let said = (said.facts.event_type().unwrap(), said.role, said.facts.clone());
        let content = content.unwrap();
        let recorded =
            self.desk.record(&mut self.run, said, &content, None, self.now, &mut self.random).unwrap();
        self.events.push((recorded.event, Some(content)));
    }

    /// Has the desk record something of its own.
    pub(crate) fn desk_records(&mut self, act: Act) {
        let said = (act.facts.event_type().unwrap(), Role::Desk, act.facts);
        let recorded =
            self.desk.record(&mut self.run, said, &act.content, None, self.now, &mut self.random).unwrap();
        self.events.push((recorded.event, Some(act.content)));
    }

    /// Returns whose key somebody speaks with.
    pub(crate) fn principal(&self, who: Who) -> PrincipalId {
        match who {
            Who::Agent => self.agent.principal(),
            Who::Answerer | Who::Person => self.answerer.principal(),
        }
    }

    /// Has somebody answer a gap; returns what the rules say about it.
    pub(crate) fn answer(&mut self, who: Who, gap: &str, answer: &str) -> Judged {
        let session = self.session();
        let (act, judged) =
            session.answer(session.gap(gap).unwrap(), answer, assurance(who), Voice::default()).unwrap();
        self.perform(who, act).unwrap();
        judged
    }

    /// Has somebody replace the answer to a gap that counts; returns what the rules say about the new one.
    pub(crate) fn replace(&mut self, who: Who, gap: &str, answer: &str) -> Result<Judged, DeskError> {
        let session = self.session();
        let gap = session.gap(gap).unwrap();
        let replaces = session.answer_to(gap).unwrap();
        let said = (assurance(who), Voice::default());
        let (act, judged) = session.replace(gap, replaces, answer, said).unwrap();
        self.perform(who, act).map(|_| judged)
    }

    /// Has somebody take the answer to a gap back that counts.
    pub(crate) fn revoke(&mut self, who: Who, gap: &str) -> Result<Sequence, DeskError> {
        let session = self.session();
        let gap = session.gap(gap).unwrap();
        let reason = Text::try_from("a mistake").unwrap();
        let act =
            session.revoke(gap, session.answer_to(gap).unwrap(), (assurance(who), None), reason).unwrap();
        self.perform(who, act)
    }

    /// Has the agent amend its plan: these members are so from now on.
    pub(crate) fn amend(&mut self, members: &Value) -> Result<Sequence, DeskError> {
        let session = self.session();
        let mut plan = session.plan().as_value().clone();
        plan.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        let act = session.amend(&Plan::try_from(plan).unwrap()).unwrap().unwrap();
        self.perform(Who::Agent, act)
    }

    /// Has a person accept a warning.
    pub(crate) fn accept(&mut self, gap: &str) {
        let session = self.session();
        let reason = Text::try_from("known and fine").unwrap();
        let act = session.accept(session.gap(gap).unwrap(), Assurance::Terminal, None, reason).unwrap();
        self.perform(Who::Person, act).unwrap();
    }

    pub(crate) fn confirm(&mut self) -> Result<Sequence, DeskError> {
        let act = self.session().confirm().unwrap();
        self.perform(Who::Agent, act)
    }
}

pub(crate) const fn assurance(who: Who) -> Assurance {
    match who {
        Who::Person => Assurance::Terminal,
        Who::Agent | Who::Answerer => Assurance::Agent,
    }
}

pub(crate) fn uuid() -> Uuid {
    "0196bb7c-0000-7000-8000-000000000001".parse().unwrap()
}
