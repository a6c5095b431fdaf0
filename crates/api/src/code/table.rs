//! Every code that is not a rule's: by class, with its text and, where the class does not say it, its HTTP status.

use super::{Class, RuleCode};

macro_rules! codes {
    ($($class:ident { $($name:ident = $text:literal $($status:literal)?),+ $(,)? })+) => {
        /// Why something was refused, for programs. No code ever changes its meaning, and no two have one text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            /// A rule said no.
            Rule(RuleCode),
            $($(#[doc = concat!("`", $text, "`")]
            $name,)+)+
        }

        impl Code {
            /// Every code that is not a rule's.
            pub const OWN: &[Self] = &[$($(Self::$name),+),+];

            /// Returns it as everybody sees it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    Self::Rule(code) => code.as_str(),
                    $($(Self::$name => $text,)+)+
                }
            }

            /// Returns what kind of no it is.
            pub const fn class(self) -> Class {
                match self {
                    Self::Rule(_) => Class::Refused,
                    $($(Self::$name)|+ => Class::$class,)+
                }
            }

            /// Returns the HTTP status that the code itself names.
            pub(super) const fn own_status(self) -> Option<u16> {
                match self {
                    Self::Rule(_) => None,
                    $($(Self::$name => own_status!($($status)?),)+)+
                }
            }
        }
    };
}

macro_rules! own_status {
    () => {
        None
    };
    ($status:literal) => {
        Some($status)
    };
}

codes! {
    Input {
        AgentName = "AGENT_NAME",
        AgentUnknown = "AGENT_UNKNOWN",
        AnswerInvalid = "ANSWER_INVALID",
        AnswerKind = "ANSWER_KIND",
        Arguments = "ARGUMENTS",
        ArtifactMissing = "ARTIFACT_MISSING",
        ChoicesAlike = "CHOICES_ALIKE",
        CursorInvalid = "CURSOR_INVALID",
        DocumentInvalid = "DOCUMENT_INVALID",
        FileExists = "FILE_EXISTS",
        FileMalformed = "FILE_MALFORMED",
        FileTruncated = "FILE_TRUNCATED",
        FileUnreadable = "FILE_UNREADABLE" 500,
        FileUnusable = "FILE_UNUSABLE" 500,
        FolderOpen = "FOLDER_OPEN" 500,
        FormatNewer = "FORMAT_NEWER",
        KeyFileMalformed = "KEY_FILE_MALFORMED",
        KeyFileOpen = "KEY_FILE_OPEN",
        KeyUnknown = "KEY_UNKNOWN",
        Malformed = "MALFORMED",
        MediaType = "MEDIA_TYPE" 415,
        MessageMalformed = "MESSAGE_MALFORMED",
        NameInvalid = "NAME_INVALID",
        NameMissing = "NAME_MISSING",
        NoDataFolder = "NO_DATA_FOLDER",
        NoIdentity = "NO_IDENTITY",
        NoKeys = "NO_KEYS" 500,
        NoRules = "NO_RULES",
        NoStore = "NO_STORE" 500,
        NotARun = "NOT_A_RUN",
        OutputInvalid = "OUTPUT_INVALID",
        PeopleMissing = "PEOPLE_MISSING",
        PlanMalformed = "PLAN_MALFORMED",
        RecordDamaged = "RECORD_DAMAGED" 500,
        RoleNotOfARun = "ROLE_NOT_OF_A_RUN",
        RulesMalformed = "RULES_MALFORMED" 500,
        ScopeInvalid = "SCOPE_INVALID",
        ScopeMissing = "SCOPE_MISSING",
        SecretElsewhere = "SECRET_ELSEWHERE",
        SessionUnreadable = "SESSION_UNREADABLE",
        StoreDamaged = "STORE_DAMAGED" 500,
        StoreExists = "STORE_EXISTS",
        StoreForeign = "STORE_FOREIGN" 500,
        StoreNewer = "STORE_NEWER" 500,
        StoreOlder = "STORE_OLDER" 500,
        StoreReadOnly = "STORE_READ_ONLY" 500,
        TaskInvalid = "TASK_INVALID",
        TooLarge = "TOO_LARGE" 413,
        TooManyGaps = "TOO_MANY_GAPS",
        TypeForbidden = "TYPE_FORBIDDEN",
    }
    Unknown {
        ArtifactUnknown = "ARTIFACT_UNKNOWN",
        ConfirmationUnknown = "CONFIRMATION_UNKNOWN",
        EventUnknown = "EVENT_UNKNOWN",
        GapUnknown = "GAP_UNKNOWN",
        IdentityUnknown = "IDENTITY_UNKNOWN",
        NameUnknown = "NAME_UNKNOWN",
        NotFound = "NOT_FOUND",
        PasskeyUnknown = "PASSKEY_UNKNOWN",
        PersonUnknown = "PERSON_UNKNOWN",
        QuestionUnknown = "QUESTION_UNKNOWN",
        ReceiptUnknown = "RECEIPT_UNKNOWN",
        SchemaUnknown = "SCHEMA_UNKNOWN",
        SecretGone = "SECRET_GONE",
        SessionUnknown = "SESSION_UNKNOWN",
        SignInUnknown = "SIGN_IN_UNKNOWN",
        TokenUnknown = "TOKEN_UNKNOWN",
        TouchUnknown = "TOUCH_UNKNOWN",
        TraceUnknown = "TRACE_UNKNOWN",
    }
    Forbidden {
        CallerSupervised = "CALLER_SUPERVISED",
        Forbidden = "FORBIDDEN",
        FormForeign = "FORM_FOREIGN",
        LastOperator = "LAST_OPERATOR",
        LinkSpent = "LINK_SPENT" 401,
        OriginForbidden = "ORIGIN_FORBIDDEN",
        Unauthenticated = "UNAUTHENTICATED" 401,
    }
    Refused {
        AskerElsewhere = "ASKER_ELSEWHERE",
        ClaimUnknown = "CLAIM_UNKNOWN",
        Contended = "CONTENDED",
        DeskKeyInUse = "DESK_KEY_IN_USE",
        HolderKnown = "HOLDER_KNOWN",
        HostForbidden = "HOST_FORBIDDEN" 421,
        IdempotencyConflict = "IDEMPOTENCY_CONFLICT" 422,
        KeyGone = "KEY_GONE",
        KeyStanding = "KEY_STANDING",
        MethodNotAllowed = "METHOD_NOT_ALLOWED" 405,
        Moved = "MOVED",
        NameConfusable = "NAME_CONFUSABLE",
        NameTaken = "NAME_TAKEN",
        NeedsClarification = "NEEDS_CLARIFICATION",
        NoDeadline = "NO_DEADLINE",
        NoDeskKey = "NO_DESK_KEY" 500,
        NoServer = "NO_SERVER",
        NoTcp = "NO_TCP",
        NotAttested = "NOT_ATTESTED",
        NotText = "NOT_TEXT",
        PasskeyKnown = "PASSKEY_KNOWN",
        PasskeyMissing = "PASSKEY_MISSING",
        PasskeyUnfit = "PASSKEY_UNFIT",
        PersonNeeded = "PERSON_NEEDED",
        PersonReleases = "PERSON_RELEASES",
        PortForbidden = "PORT_FORBIDDEN",
        PortTaken = "PORT_TAKEN",
        ProfileConflict = "PROFILE_CONFLICT",
        RecordChanged = "RECORD_CHANGED",
        RotatedAlready = "ROTATED_ALREADY",
        RunClaimed = "RUN_CLAIMED",
        RunNotBegun = "RUN_NOT_BEGUN",
        RunOfAnotherStore = "RUN_OF_ANOTHER_STORE",
        RunOver = "RUN_OVER",
        ServerSilent = "SERVER_SILENT",
        SessionConflict = "SESSION_CONFLICT",
        SettleFirst = "SETTLE_FIRST",
        SetupCodeWrong = "SETUP_CODE_WRONG",
        TaskChanged = "TASK_CHANGED",
        TooManyPeople = "TOO_MANY_PEOPLE",
        TooManyTokens = "TOO_MANY_TOKENS",
        TouchNeeded = "TOUCH_NEEDED",
        TouchStale = "TOUCH_STALE",
        TraceConflict = "TRACE_CONFLICT",
        TraceNewer = "TRACE_NEWER",
        VerdictUnfounded = "VERDICT_UNFOUNDED",
        VersionMismatch = "VERSION_MISMATCH",
    }
    Busy {
        ConnectionLost = "CONNECTION_LOST" 409,
        ErasureUnfinished = "ERASURE_UNFINISHED",
        FolderInUse = "FOLDER_IN_USE",
        NoReply = "NO_REPLY",
        Overloaded = "OVERLOADED",
        QuotaExceeded = "QUOTA_EXCEEDED" 429,
        Stopping = "STOPPING",
        StoreLocked = "STORE_LOCKED",
        TooManyAttempts = "TOO_MANY_ATTEMPTS" 429,
        TooManyCalls = "TOO_MANY_CALLS" 429,
        TooSlow = "TOO_SLOW" 408,
    }
    Unproven {
        RecordUnproven = "RECORD_UNPROVEN",
    }
    Ours {
        Bug = "BUG",
        ClientTrouble = "CLIENT_TROUBLE",
        Clock = "CLOCK",
        DiskFull = "DISK_FULL" 507,
        FileTrouble = "FILE_TROUBLE",
        LeaseLost = "LEASE_LOST",
        NoRandomness = "NO_RANDOMNESS",
        OutputTrouble = "OUTPUT_TROUBLE",
        PipeTrouble = "PIPE_TROUBLE",
        ServerEnded = "SERVER_ENDED",
        ServerTrouble = "SERVER_TROUBLE",
        StoreGone = "STORE_GONE",
        StoreStopped = "STORE_STOPPED",
        StoreTrouble = "STORE_TROUBLE",
        WriteUncertain = "WRITE_UNCERTAIN",
    }
}
