//! The table of operations: every one of them once, with its name, its place, who may, and its documents.

use demur_clarify::{audit::AuditRecord, handoff::Handoff, identity::IdentityVerification};
use demur_ledger::signed::{Receipt, Signed};

use super::{
    About, Method, NoArguments, Nothing, OfConfirmation, OfEvent, OfGap, OfIdentity, OfPasskey, OfPerson,
    OfPlan, OfQuestion, OfSignIn, OfToken, OfTouch, OfTrace, Operation, PathArguments as _, Success,
};
use crate::{
    call::Call,
    confirmation::{
        self, AskConfirmationParameters, ConfirmationListParameters, ConfirmationView, ListedConfirmations,
    },
    hook::{Hook, Stopped},
    identity::VerifyIdentity,
    key::{self, KeyEntry, ListedIdentities, ListedKeys, NewKey, RegisteredKey, RevokedKey, RotatedKey},
    passkey::{
        self, BrowserAssertion, FinishedTouch, ListedPasskeys, NewPasskey, PasskeyToReset, PreparedTouch,
        SetupCode, ShownPasskey,
    },
    person::{
        EndSessionsParameters, EndedSessions, Link, ListedPeople, ListedSessions, NewLink, NewPerson,
        RemovedPerson, ShownPerson,
    },
    plan::{
        self, AttestedPlan, ListedPlans, PlanListParameters, PlanStanding, ResolvedGap, ToldGap, ToldPlan,
        VerifiedAttestation,
    },
    question::{
        self, Act, Answer, AskParameters, AskedView, Delivered, Deliveries, Done, Extension, Heard, Listed,
        Passing, QuestionHistory, QuestionListParameters, QuestionView, Replacement, RevokeParameters,
        WaitParameters,
    },
    request_state::RequestStateKey,
    run::{
        self, AuditedRun, ClaimedRun, DriveReply, ReadRunParameters, RunEvent, RunLines, RunStanding,
        SubmittedInRun,
    },
    scope::Scope,
    server::{Health, SchemaList, ServerStatus},
    statement::SignedStatement,
    store::{CheckpointView, FindParameters, FoundIds, StoreCheck, StoreCheckProgress},
    token::{ListedTokens, MadeToken, NewToken, ShownToken},
    trace::{self, ErasedEvent, EventParameters, ListedEvents, ListedTraces, TraceListParameters, TraceView},
};

/// Makes a type of each row. A row is: the type, its name for programs, method and path, who may, `keyed` where a retry
/// under an idempotency key is recorded once, `large` where it may carry an artifact, what it does; then the types of path, query and body, of what comes back, and
/// the statuses.
macro_rules! operations {
    ($(
        $type:ident = $id:literal, $method:ident $path:literal, $scopes:ident $($flag:ident)*, $summary:literal;
        ($arguments:ty, $query:ty, $body:ty) -> $output:ty, $($status:literal $meaning:literal),+;
    )+) => {
        $(
            #[doc = concat!($summary, ".")]
            #[derive(Clone, Copy, Debug)]
            pub enum $type {}

            impl Operation for $type {
                const ABOUT: About = About {
                    id: $id,
                    method: Method::$method,
                    path: $path,
                    scopes: $scopes,
                    summary: $summary,
                    keyed: operations!(@keyed $($flag)*),
                    large: operations!(@large $($flag)*),
                    statuses: &[$(Success { status: $status, meaning: $meaning }),+],
                };
                type Path = $arguments;
                type Query = $query;
                type Body = $body;
                type Output = $output;
            }
        )+

        /// Every operation, with the names of what stands in its path.
        pub const EVERY: &[(About, &[&str])] = &[$(($type::ABOUT, <$arguments>::NAMES)),+];

        /// A way to have every operation done: one that is missing does not compile.
        pub trait Connection: $(Call<$type> +)+ Clone + Send + Sync + 'static {}

        impl<T: $(Call<$type> +)+ Clone + Send + Sync + 'static> Connection for T {}
    };
    (@keyed keyed $($rest:ident)*) => { true };
    (@large large $($rest:ident)*) => { true };
    (@$flag:ident $other:ident $($rest:ident)*) => { operations!(@$flag $($rest)*) };
    (@$flag:ident) => { false };
}

operations! {
    Ask = "ask", Post "/v1/questions", ASKING keyed, "Ask a question, and wait for its answer if wanted";
        (NoArguments, AskParameters, question::Ask) -> AskedView,
        201 "It is on record", 200 "The same was recorded before";
    ListQuestions = "listQuestions", Get "/v1/questions", SEEING, "List questions, the oldest first";
        (NoArguments, QuestionListParameters, Nothing) -> Listed, 200 "One page";
    ShowQuestion = "question", Get "/v1/questions/{question}", SEEING, "Show a question and how it stands";
        (OfQuestion, Nothing, Nothing) -> QuestionView, 200 "The question";
    ShowQuestionHistory = "questionHistory", Get "/v1/questions/{question}/history", SEEING,
        "Say what happened to a question, and what was done on answers that no longer count";
        (OfQuestion, Nothing, Nothing) -> QuestionHistory, 200 "What happened";
    WaitForQuestion = "waitForQuestion", Get "/v1/questions/{question}/wait", SEEING,
        "Wait until a question is no longer open";
        (OfQuestion, WaitParameters, Nothing) -> QuestionView,
        200 "The question; still open if the time is over";
    ReadSecret = "secret", Get "/v1/questions/{question}/secret", ASKING,
        "Read a secret answer, as its asker";
        (OfQuestion, Nothing, Nothing) -> Delivered,
        200 "The answer, and what opens the commitment in the ledger";
    ForgetSecret = "forgetSecret", Delete "/v1/questions/{question}/secret", ASKING,
        "Say that a secret answer has arrived; it is forgotten";
        (OfQuestion, Nothing, Nothing) -> Nothing, 204 "It is forgotten";
    AnswerQuestion = "answer", Post "/v1/questions/{question}/answer", ANSWERING,
        "Answer a question; the first answer counts";
        (OfQuestion, Nothing, Answer) -> Done, 200 "Done, or done before";
    ReplaceAnswer = "replaceAnswer", Put "/v1/questions/{question}/answer", ANSWERING,
        "Put another answer in the place of one's own";
        (OfQuestion, Nothing, Replacement) -> Done, 200 "Done, or done before";
    RevokeAnswer = "revokeAnswer", Delete "/v1/questions/{question}/answer", ANSWERING,
        "Take one's own answer back; the question is open again";
        (OfQuestion, RevokeParameters, Nothing) -> Done, 200 "Done, or done before";
    AcceptQuestion = "accept", Post "/v1/questions/{question}/accept", ANSWERING,
        "Accept what a question of severity warn points at";
        (OfQuestion, Nothing, Act) -> Done, 200 "Done, or done before";
    DeclineQuestion = "decline", Post "/v1/questions/{question}/decline", ANSWERING,
        "Say that nobody here will answer";
        (OfQuestion, Nothing, Act) -> Done, 200 "Done, or done before";
    PassQuestion = "pass", Post "/v1/questions/{question}/pass", ANSWERING, "Hand a question to others";
        (OfQuestion, Nothing, Passing) -> Done, 200 "Done, or done before";
    ExtendQuestion = "extend", Post "/v1/questions/{question}/extend", ASKING, "Give more time";
        (OfQuestion, Nothing, Extension) -> Done, 200 "Done, or done before";
    CancelQuestion = "cancel", Post "/v1/questions/{question}/cancel", ASKING,
        "Say that no answer is needed any more";
        (OfQuestion, Nothing, Act) -> Done, 200 "Done, or done before";
    DeliverQuestions = "deliver", Post "/v1/deliveries", ANSWERING,
        "Record that questions were put before somebody, each once";
        (NoArguments, Nothing, Deliveries) -> Nothing, 204 "It is on record, now or before";
    NoteHeard = "heard", Post "/v1/heard", ASKING,
        "Say that the asker has heard what became of questions: the next one in the same words is a new one";
        (NoArguments, Nothing, Heard) -> Nothing,
        204 "It is noted, now or before; of an open question nothing is";

    AskConfirmation = "askConfirmation", Post "/v1/confirmations", ASKING keyed,
        "Put one operation before somebody, who confirms or refuses exactly that one";
        (NoArguments, AskConfirmationParameters, confirmation::AskConfirmation) -> ConfirmationView,
        201 "It is on record", 200 "The same was recorded before";
    ListConfirmations = "listConfirmations", Get "/v1/confirmations", SEEING,
        "List confirmations, the oldest first";
        (NoArguments, ConfirmationListParameters, Nothing) -> ListedConfirmations, 200 "One page";
    ShowConfirmation = "confirmation", Get "/v1/confirmations/{confirmation}", SEEING,
        "Show a confirmation and how it stands";
        (OfConfirmation, Nothing, Nothing) -> ConfirmationView, 200 "The confirmation";
    WaitForConfirmation = "waitForConfirmation", Get "/v1/confirmations/{confirmation}/wait", SEEING,
        "Wait until a confirmation is given or refused";
        (OfConfirmation, WaitParameters, Nothing) -> ConfirmationView,
        200 "The confirmation; still open if the time is over";
    GiveConfirmation = "giveConfirmation", Post "/v1/confirmations/{confirmation}/give", ANSWERING,
        "Say yes to exactly the operation with this digest; the first yes or no counts";
        (OfConfirmation, Nothing, confirmation::GiveConfirmation) -> ConfirmationView,
        200 "It is given, now or before";
    RefuseConfirmation = "refuseConfirmation", Post "/v1/confirmations/{confirmation}/refuse", ANSWERING,
        "Say no to the operation with this digest; the first yes or no counts";
        (OfConfirmation, Nothing, confirmation::RefuseConfirmation) -> ConfirmationView,
        200 "It is refused, now or before";
    StartOperation = "startOperation", Post "/v1/confirmations/{confirmation}/start", ASKING,
        "Record that the confirmed operation starts; refused unless it was given, is unspent and is this one";
        (OfConfirmation, Nothing, confirmation::StartOperation) -> ConfirmationView,
        200 "It is on record: go ahead, once";
    EndOperation = "endOperation", Post "/v1/confirmations/{confirmation}/end", ASKING,
        "Record that the operation is over";
        (OfConfirmation, Nothing, confirmation::EndOperation) -> ConfirmationView, 200 "It is on record";

    CheckPlan = "checkPlan", Post "/v1/plans/check", ASKING,
        "Hold a plan against the rules; nothing is recorded";
        (NoArguments, Nothing, plan::CheckPlan) -> PlanStanding, 200 "What the rules find";
    SubmitPlan = "submitPlan", Post "/v1/plans", ASKING,
        "Submit a plan; what it lacks comes back as gaps. A retry names the same `session_id`";
        (NoArguments, Nothing, plan::SubmitPlan) -> PlanStanding,
        201 "The plan is on record", 200 "The same plan was recorded before, in this session";
    ShowPlan = "plan", Get "/v1/plans/{session}", SEEING_PLANS, "Say where a plan stands";
        (OfPlan, Nothing, Nothing) -> PlanStanding, 200 "Where it stands";
    ResolveGap = "resolveGap", Post "/v1/plans/{session}/gaps/{gap}", ANSWERING,
        "Answer a gap of a plan, or accept a warning as it is";
        (OfGap, Nothing, plan::ResolveGap) -> ResolvedGap,
        200 "What became of the answer; an escalated gap stays open";
    ResolveOwnGap = "resolveOwnGap", Post "/v1/plans/{session}/gaps/{gap}/own", ASKING,
        "Suggest the answer to a gap of one's own plan; it settles the gap only where the rules say so";
        (OfGap, Nothing, plan::ResolveOwnGap) -> ResolvedGap,
        200 "What became of the answer; an escalated gap stays open";
    WithdrawGap = "withdrawGap", Post "/v1/plans/{session}/gaps/{gap}/withdraw", SPEAKING,
        "Say that nobody is asked about a gap any more; what waits for it goes on waiting";
        (OfGap, Nothing, plan::PlanAct) -> PlanStanding, 200 "Nobody is asked, now or before";
    AskGapAgain = "askGapAgain", Post "/v1/plans/{session}/gaps/{gap}/ask", SPEAKING,
        "Put a gap again that was declined, withdrawn or not answered in time";
        (OfGap, Nothing, plan::PlanAct) -> PlanStanding, 200 "It is asked, now or before";
    AmendPlan = "amendPlan", Post "/v1/plans/{session}/amend", ASKING,
        "Put another plan in the place of one that is not confirmed; what somebody answered stays";
        (OfPlan, Nothing, plan::AmendPlan) -> PlanStanding, 200 "The plan is this, now or before";
    WithdrawPlan = "withdrawPlan", Post "/v1/plans/{session}/withdraw", SPEAKING,
        "Take a plan back that is not confirmed; everything that was asked about it ends";
        (OfPlan, Nothing, plan::PlanAct) -> PlanStanding, 200 "It is withdrawn, now or before";
    BeginOperation = "beginOperation", Post "/v1/plans/{session}/operations", ASKING,
        "Record that an operation begins; refused while an open gap blocks it";
        (OfPlan, Nothing, plan::BeginOperation) -> PlanStanding, 200 "It is on record: go ahead";
    ConfirmPlan = "confirmPlan", Post "/v1/plans/{session}/confirm", ASKING,
        "Confirm a plan with every answer in it; refused while a gap is open";
        (OfPlan, Nothing, plan::ConfirmPlan) -> PlanStanding, 200 "It is confirmed, now or before";
    AttestPlan = "attestPlan", Post "/v1/plans/{session}/attestation", ASKING,
        "Attest what was made of a confirmed plan; once";
        (OfPlan, Nothing, plan::AttestPlan) -> AttestedPlan,
        201 "The attestation is on record", 200 "The same files were attested before";
    AuditPlan = "auditPlan", Get "/v1/plans/{session}/audit", SEEING_PLANS,
        "Give the signed record of every round of a plan";
        (OfPlan, Nothing, Nothing) -> AuditRecord, 200 "The record";
    HandOffPlan = "handOffPlan", Post "/v1/plans/{session}/handoff", ASKING,
        "Make the signed package for the agent that goes on with the work; nothing is recorded";
        (OfPlan, Nothing, plan::HandOffPlan) -> Handoff, 200 "The package";
    ShowWholePlan = "wholePlan", Get "/v1/plans/{session}/plan", SEEING_PLANS,
        "Give a plan with every answer in it; refused while a gap is open";
        (OfPlan, Nothing, Nothing) -> plan::WholePlan, 200 "The plan";
    ShowAttestation = "attestation", Get "/v1/plans/{session}/attestation", SEEING_PLANS,
        "Give the attestation of what was made of a plan";
        (OfPlan, Nothing, Nothing) -> AttestedPlan, 200 "The attestation";
    VerifyAttestation = "verifyAttestation", Post "/v1/attestations/verify", SEEING_PLANS,
        "Say whether an attestation of this desk holds";
        (NoArguments, Nothing, plan::VerifyAttestation) -> VerifiedAttestation, 200 "What was found";

    OpenRun = "openRun", Post "/v1/runs", ASKING,
        "Open an accountable run as its planner. A retry names the same `trace`";
        (NoArguments, Nothing, run::OpenRun) -> RunStanding,
        201 "It is open", 200 "The same run was opened before, in this trace";
    ShowRun = "run", Get "/v1/runs/{trace}", SEEING, "Say where a run stands, and who can do what next";
        (OfTrace, Nothing, Nothing) -> RunStanding, 200 "Where it stands";
    SayInRun = "sayInRun", Post "/v1/runs/{trace}/events", ASKING keyed large,
        "Say one thing in one role of a run; refused unless the caller takes part in that role";
        (OfTrace, Nothing, run::SayInRun) -> RunEvent,
        201 "It is on record", 200 "The same request was recorded before";
    AuditRun = "auditRun", Post "/v1/runs/{trace}/audit", ASKING,
        "Verify a concluded run as its auditor, and close it with what was found";
        (OfTrace, Nothing, run::AuditRun) -> AuditedRun, 200 "The verdict, which is recorded once";
    ClaimRun = "claimRun", Post "/v1/runs/{trace}/claim", LOCAL large,
        "Take the right to drive a run, or renew it; one process at a time has it";
        (OfTrace, Nothing, run::ClaimRun) -> ClaimedRun, 200 "The run is the caller's to drive";
    DriveRun = "driveRun", Post "/v1/runs/{trace}/drive", LOCAL large,
        "Report what the tools and agents of a run did, and hear what comes next";
        (OfTrace, Nothing, run::DriveReport) -> DriveReply, 200 "What was recorded, and the next step";
    SubmitInRun = "submitInRun", Post "/v1/runs/{trace}/submit", LOCAL large,
        "Record what an agent in a process of its own has signed, in a run that the caller drives";
        (OfTrace, Nothing, run::SubmitInRun) -> SubmittedInRun, 200 "What became of it, also where it was refused";
    ReadRun = "readRun", Get "/v1/runs/{trace}/lines", LOCAL,
        "Read a run as its agents hear it: the lines of an export";
        (OfTrace, ReadRunParameters, Nothing) -> RunLines, 200 "The next lines";
    AbortRun = "abortRun", Post "/v1/runs/{trace}/abort", OPERATING,
        "End a run for good; whoever drives it hears of it and stops";
        (OfTrace, Nothing, run::AbortRun) -> Nothing, 204 "It is aborted";

    ListTraces = "listTraces", Get "/v1/traces", READING,
        "List the traces, the newest first; the registry of keys is none of them";
        (NoArguments, TraceListParameters, Nothing) -> ListedTraces, 200 "One page";
    ShowTrace = "trace", Get "/v1/traces/{trace}", SEEING, "Say what a trace is";
        (OfTrace, Nothing, Nothing) -> TraceView, 200 "The trace";
    ListEvents = "listEvents", Get "/v1/traces/{trace}/events", SEEING,
        "List the events of a trace with their content, in order";
        (OfTrace, EventParameters, Nothing) -> ListedEvents, 200 "One page";
    EraseEvent = "eraseEvent", Post "/v1/traces/{trace}/events/{sequence}/erase", OPERATING,
        "Erase the words of an event for good: its content, salt and artifact, and every paper that quotes it";
        (OfEvent, Nothing, trace::EraseEvent) -> ErasedEvent,
        200 "They are gone, now or since before; everything else still holds";
    ShowReceipt = "receipt", Get "/v1/traces/{trace}/receipts/{sequence}", SEEING,
        "Give the desk's signed receipt for a statement";
        (OfEvent, Nothing, Nothing) -> Signed<Receipt>,
        200 "The receipt: keep it, an export has to agree with it";

    ListIdentities = "listIdentities", Get "/v1/identities", SEEING,
        "List every key of the registry, the oldest first";
        (NoArguments, Nothing, Nothing) -> ListedIdentities, 200 "The keys";
    ShowIdentity = "identity", Get "/v1/identities/{fingerprint}", SEEING,
        "Say whose a key is, what it may do and what became of it";
        (OfIdentity, Nothing, Nothing) -> KeyEntry, 200 "The key";
    VerifyIdentityMessages = "verifyIdentity", Post "/v1/identities/verify", SEEING,
        "Say whether signed messages hold, and what the identity behind them is at a time";
        (NoArguments, Nothing, VerifyIdentity) -> IdentityVerification,
        200 "What was found; whether it is valid stands in it";

    ListKeys = "listKeys", Get "/v1/keys", LOCAL, "List every key, with where its secret is";
        (NoArguments, Nothing, Nothing) -> ListedKeys, 200 "The keys";
    RegisterKey = "registerKey", Post "/v1/keys", LOCAL,
        "Make a key and keep its secret, or register one that was made elsewhere";
        (NoArguments, Nothing, NewKey) -> RegisteredKey, 201 "The key is registered";
    RotateKey = "rotateKey", Post "/v1/keys/{fingerprint}/rotation", LOCAL, "Give a key a successor";
        (OfIdentity, Nothing, key::RotateKey) -> RotatedKey, 201 "It has a successor";
    RevokeKey = "revokeKey", Post "/v1/keys/{fingerprint}/revocation", LOCAL, "Let a key speak no longer";
        (OfIdentity, Nothing, key::RevokeKey) -> RevokedKey, 201 "It may no longer speak";

    ListPlans = "listPlans", Get "/v1/local/plans", LOCAL, "List the plans, the newest first";
        (NoArguments, PlanListParameters, Nothing) -> ListedPlans, 200 "One page";
    ShowPlanHere = "planHere", Get "/v1/local/plans/{session}", LOCAL,
        "Say where a plan stands, as people at a terminal read it";
        (OfPlan, Nothing, Nothing) -> ToldPlan, 200 "Where it stands";
    CheckPlanUnder = "checkPlanUnder", Post "/v1/local/plans/check", LOCAL,
        "Hold a plan against rules that travel along; nothing is recorded";
        (NoArguments, Nothing, plan::CheckPlanUnder) -> PlanStanding, 200 "What the rules find";
    SubmitPlanAs = "submitPlanAs", Post "/v1/local/plans", LOCAL,
        "Submit a plan with a key of this data folder, under rules that travel along";
        (NoArguments, Nothing, plan::SubmitPlanAs) -> ToldPlan, 200 "It is on record, now or before";
    ResolveGapAs = "resolveGapAs", Post "/v1/local/plans/{session}/gaps/{gap}", LOCAL,
        "Answer a gap with a key of this data folder, or as the user of this machine";
        (OfGap, Nothing, plan::ResolveGapAs) -> ToldGap,
        200 "What became of the answer; an escalated gap stays open";
    BeginOperationAs = "beginOperationAs", Post "/v1/local/plans/{session}/operations", LOCAL,
        "Record that an operation begins, with a key of this data folder";
        (OfPlan, Nothing, plan::BeginOperationAs) -> ToldPlan, 200 "It is on record: go ahead";
    ConfirmPlanAs = "confirmPlanAs", Post "/v1/local/plans/{session}/confirm", LOCAL,
        "Confirm a plan with a key of this data folder";
        (OfPlan, Nothing, plan::ConfirmPlanAs) -> ToldPlan, 200 "It is confirmed";
    AttestPlanAs = "attestPlanAs", Post "/v1/local/plans/{session}/attestation", LOCAL,
        "Attest what was made of a plan, with a key of this data folder";
        (OfPlan, Nothing, plan::AttestPlanAs) -> AttestedPlan, 200 "It is attested";

    FindIds = "findIds", Get "/v1/ids", LOCAL, "Say which ids begin so";
        (NoArguments, FindParameters, Nothing) -> FoundIds, 200 "The first few of them";
    MakeCheckpoint = "checkpoint", Post "/v1/checkpoints", LOCAL,
        "Record one hash over what every trace holds at this moment";
        (NoArguments, Nothing, Nothing) -> CheckpointView, 201 "The checkpoint is on record";
    CheckStore = "checkStore", Post "/v1/store/check", LOCAL,
        "Look at everything in the store and say what is wrong; a trace that does not hold is marked";
        (NoArguments, Nothing, Nothing) -> StoreCheck, 200 "What was found";
    ShowStoreCheck = "storeCheck", Get "/v1/store/check", LOCAL,
        "Say how far the check of the store is that goes on now";
        (NoArguments, Nothing, Nothing) -> StoreCheckProgress, 200 "How far it is";

    MakeToken = "newToken", Post "/v1/tokens", ADMINISTERING, "Make a token";
        (NoArguments, Nothing, NewToken) -> MadeToken, 201 "The token; it is shown once";
    ListTokens = "listTokens", Get "/v1/tokens", ADMINISTERING, "List the tokens";
        (NoArguments, Nothing, Nothing) -> ListedTokens, 200 "Every token, without its secret";
    RevokeToken = "revokeToken", Delete "/v1/tokens/{token}", ADMINISTERING, "Take a token back";
        (OfToken, Nothing, Nothing) -> ShownToken, 200 "It is good for nothing from now on";
    AddPerson = "addPerson", Post "/v1/people", ADMINISTERING, "Let somebody sign in with a browser, in a role";
        (NoArguments, Nothing, NewPerson) -> ShownPerson, 201 "Who can sign in now";
    ListPeople = "listPeople", Get "/v1/people", ADMINISTERING, "List the people who can sign in";
        (NoArguments, Nothing, Nothing) -> ListedPeople,
        200 "Everybody but the user of this machine, who always can";
    RemovePerson = "removePerson", Delete "/v1/people/{person}", ADMINISTERING, "Let somebody sign in no longer";
        (OfPerson, Nothing, Nothing) -> RemovedPerson, 200 "Removed; the sessions have ended";
    MakeSignInLink = "signInLink", Post "/v1/sign-in", ADMINISTERING, "Make a code that signs a browser in, once";
        (NoArguments, Nothing, NewLink) -> Link, 201 "The code; it is good for five minutes";
    ListSessions = "listSessions", Get "/v1/sessions", PERSONAL,
        "List the browsers that are signed in: one's own, or everybody's for the user of this machine";
        (NoArguments, Nothing, Nothing) -> ListedSessions, 200 "Each with since when, last use, browser and address";
    EndSession = "endSession", Delete "/v1/sessions/{sign_in}", PERSONAL, "Sign one browser out";
        (OfSignIn, Nothing, Nothing) -> EndedSessions, 200 "It is signed out";
    EndSessions = "endSessions", Delete "/v1/sessions", PERSONAL, "Sign browsers out: all of one's own, or of others";
        (NoArguments, EndSessionsParameters, Nothing) -> EndedSessions, 200 "They are signed out";

    MakeSetupCode = "setupCode", Post "/v1/passkeys/setup-code", LOCAL,
        "Make the code with which the first passkey of the store is registered";
        (NoArguments, Nothing, Nothing) -> SetupCode, 201 "The code; it is good for ten minutes, once";
    ListPasskeys = "listPasskeys", Get "/v1/passkeys", PERSONAL, "List the passkeys, and those that wait for one that vouches";
        (NoArguments, Nothing, Nothing) -> ListedPasskeys, 200 "All of them; nothing in it is secret";
    AddPasskey = "newPasskey", Post "/v1/passkeys", PERSONAL,
        "Bring in a passkey that a browser has made: it is touched next";
        (NoArguments, Nothing, NewPasskey) -> PreparedTouch, 201 "What it has to sign";
    ShowPasskeyToReset = "passkeyToReset", Get "/v1/passkeys/{key}/reset", LOCAL,
        "Give what the recovery key of the desk signs so that all passkeys end but one that waits";
        (OfPasskey, Nothing, Nothing) -> PasskeyToReset, 200 "What is signed";
    ResetPasskeys = "resetPasskeys", Post "/v1/passkeys/{key}/reset", LOCAL,
        "End all passkeys but one that waits, on the word of the recovery key of the desk";
        (OfPasskey, Nothing, SignedStatement) -> ShownPasskey, 201 "The only passkey now";
    PrepareTouch = "prepareTouch", Post "/v1/touches", PERSONAL,
        "Prepare what a person signs with one touch of a passkey";
        (NoArguments, Nothing, passkey::PrepareTouch) -> PreparedTouch, 201 "What is signed, and what needs no touch";
    FinishTouch = "finishTouch", Post "/v1/touches/{touch}", PERSONAL,
        "Record what a passkey has signed";
        (OfTouch, Nothing, BrowserAssertion) -> FinishedTouch, 200 "What became of each act";

    ShowServer = "server", Get "/v1/server", LOCAL, "Say which server this is";
        (NoArguments, Nothing, Nothing) -> ServerStatus, 200 "This server";
    StopServer = "stopServer", Post "/v1/server/stop", LOCAL, "End the server in good order";
        (NoArguments, Nothing, Nothing) -> Nothing, 204 "It ends now";
    ShowRequestStateKey = "requestStateKey", Get "/v1/local/request-state-key", LOCAL,
        "Give a client the secret with which what it carries between two rounds of a request is sealed";
        (NoArguments, Nothing, Nothing) -> RequestStateKey, 200 "The secret, this client's alone";
    SetHook = "hook", Post "/v1/hook", LOCAL,
        "Say which questions stop these askers; a hook is in force for them from now on, or no longer";
        (NoArguments, Nothing, Hook) -> Stopped, 200 "What stops them";

    CheckHealth = "health", Get "/healthz", OPEN, "Say that the process lives";
        (NoArguments, Nothing, Nothing) -> Health, 200 "It does";
    CheckReady = "ready", Get "/readyz", OPEN, "Say whether requests are served";
        (NoArguments, Nothing, Nothing) -> Health, 200 "They are";
    ListSchemas = "schemas", Get "/schemas", OPEN, "Name every JSON Schema";
        (NoArguments, Nothing, Nothing) -> SchemaList, 200 "Their paths";
}

/// Everybody.
const OPEN: &[Scope] = &[];
/// Who asks, submits plans and takes part in runs.
const ASKING: &[Scope] = &[Scope::Ask];
/// Who answers.
const ANSWERING: &[Scope] = &[Scope::Answer, Scope::Relay];
/// Who asks or answers; the operation looks in whose name.
const SPEAKING: &[Scope] = &[Scope::Ask, Scope::Answer, Scope::Relay];
/// Everybody who signed in, for the own sessions.
const PERSONAL: &[Scope] = &[Scope::Person];
/// The user of this machine, and on a server with a public address operators who signed in.
const ADMINISTERING: &[Scope] = &[Scope::Administer];
/// Who sees what it asked, may answer or takes part in; the operation looks which.
pub const SEEING: &[Scope] = &[Scope::Ask, Scope::Answer, Scope::Relay, Scope::Read];
/// Who sees plans: a plan's questions are for answerers, the plan itself is not.
const SEEING_PLANS: &[Scope] = &[Scope::Ask, Scope::Read];
/// Who reads everything.
const READING: &[Scope] = &[Scope::Read];
/// Who ends what others began.
const OPERATING: &[Scope] = &[Scope::Operate];
/// The user of this machine.
const LOCAL: &[Scope] = &[Scope::Local];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_places_are_unique() {
        let ids: BTreeSet<_> = EVERY.iter().map(|(about, _)| about.id).collect();
        let places: BTreeSet<_> = EVERY.iter().map(|(about, _)| (about.method, about.path)).collect();
        assert_eq!((ids.len(), places.len()), (EVERY.len(), EVERY.len()));
    }

    #[test]
    fn path_holds_what_its_type_says_in_this_order() {
        for (about, names) in EVERY {
            let parts = about.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
            assert_eq!(parts.collect::<Vec<_>>(), *names, "{}", about.id);
        }
    }

    #[test]
    fn success_is_a_status_of_success_and_only_what_records_has_two() {
        for (about, _) in EVERY {
            let statuses: Vec<_> = about.statuses.iter().map(|success| success.status).collect();
            let fits = matches!(statuses[..], [200 | 201 | 204]) || statuses == [201, 200];
            assert!(fits, "{}: {statuses:?}", about.id);
            assert!(about.method == Method::Post || matches!(statuses[..], [200 | 204]), "{}", about.id);
        }
    }
}
