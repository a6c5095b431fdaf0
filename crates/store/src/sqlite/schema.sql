-- Version 6: the ledger, what is derived from it, and operational data (docs/design/003).
-- Times are milliseconds since 1970 in UTC, digests 32 bytes, ULIDs 16 bytes big-endian.

-- The ledger: only ever grows -------------------------------------------------------------------------------

CREATE TABLE traces (
    id      INTEGER PRIMARY KEY,    -- a short name inside this file; ascends with creation, so that traces
                                    -- that are active together share pages of the index of events
    trace   BLOB NOT NULL UNIQUE,   -- the ULID its opener chose
    kind    TEXT NOT NULL,          -- registry or run
    opened  INTEGER NOT NULL        -- time of the first event
) STRICT;

-- A store has one registry.
CREATE UNIQUE INDEX traces_registry ON traces (kind) WHERE kind = 'registry';

-- One row holds an event and what is kept beside it, so that an append touches as few pages as can be. Beside an
-- event: null means that nothing was ever there, an empty value that it was erased.
CREATE TABLE events (
    ordinal       INTEGER PRIMARY KEY, -- place in the order of all commits; the cursor of readers
    trace         INTEGER NOT NULL REFERENCES traces (id),
    sequence      INTEGER NOT NULL,    -- place in its trace, from 0
    hash          BLOB NOT NULL,       -- the hash that names it
    time          INTEGER NOT NULL,    -- the desk's clock, as in the envelope
    writer        INTEGER NOT NULL,    -- the lease under which it was written
    head          BLOB,                -- the desk's signature where it was the newest of its trace after a commit:
                                       -- 1, epoch, registry sequence, registry hash, store, key, signature
    artifact      BLOB,                -- beside: plain SHA-256 of its artifact, the name of the file
    artifact_salt BLOB,                -- beside: opens the commitment to the artifact
    content_salt  BLOB,                -- beside: opens the commitment to the content
    bytes         BLOB NOT NULL,       -- canonical JSON of the envelope
    content       BLOB                 -- beside: canonical JSON of the content
) STRICT;

-- Length and newest event of a trace are read from here: no row is updated when a trace grows.
CREATE UNIQUE INDEX events_place ON events (trace, sequence);

CREATE TRIGGER traces_stay BEFORE UPDATE ON traces
BEGIN SELECT RAISE(ABORT, 'a trace is never changed'); END;
CREATE TRIGGER traces_remain BEFORE DELETE ON traces
BEGIN SELECT RAISE(ABORT, 'a trace is never deleted'); END;
CREATE TRIGGER events_stay BEFORE UPDATE OF ordinal, trace, sequence, hash, time, writer, head, bytes ON events
BEGIN SELECT RAISE(ABORT, 'an event is never changed'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'an event is never deleted'); END;
CREATE TRIGGER events_beside BEFORE UPDATE OF artifact, artifact_salt, content_salt, content ON events
WHEN NOT (NEW.artifact IS OLD.artifact AND NEW.artifact_salt IS OLD.artifact_salt
          OR OLD.artifact IS NOT NULL AND NEW.artifact IS x'' AND NEW.artifact_salt IS x'')
  OR NOT (NEW.content IS OLD.content AND NEW.content_salt IS OLD.content_salt
          OR OLD.content IS NOT NULL AND NEW.content IS x'' AND NEW.content_salt IS x'')
BEGIN SELECT RAISE(ABORT, 'what lies beside an event is never changed, only erased with its salt'); END;

-- Derived: written with the events, rebuilt from them at will ------------------------------------------------

CREATE TABLE commands (
    key     BLOB NOT NULL,          -- fingerprint of the author's key
    command BLOB NOT NULL,          -- the ULID the author chose
    event   INTEGER NOT NULL REFERENCES events (ordinal),
    PRIMARY KEY (key, command)
) STRICT, WITHOUT ROWID;

CREATE TABLE key_changes (
    fingerprint BLOB PRIMARY KEY NOT NULL,
    sequence    INTEGER NOT NULL    -- the newest registry event that changed the key's standing
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    trace INTEGER PRIMARY KEY REFERENCES traces (id),
    phase TEXT NOT NULL             -- where the run stands; written only when it changes
) STRICT;

CREATE TABLE participants (
    trace     INTEGER NOT NULL REFERENCES traces (id),
    principal BLOB NOT NULL,        -- who takes part in the run
    role      TEXT NOT NULL,        -- as what: planner, executor, critic or auditor
    PRIMARY KEY (trace, principal, role)
) STRICT, WITHOUT ROWID;

CREATE TABLE questions (
    ordinal  INTEGER PRIMARY KEY REFERENCES events (ordinal), -- of the event that asked: the order of asking over all
                                       -- traces, and the cursor of readers
    trace    INTEGER NOT NULL REFERENCES traces (id),
    sequence INTEGER NOT NULL,         -- the place of that event in its trace
    outcome  TEXT NOT NULL,            -- what became of it: open, answered, accepted, declined, expired, defaulted,
                                       -- cancelled, withdrawn
    severity TEXT NOT NULL,            -- block or warn
    people   INTEGER NOT NULL,         -- 1 if people may answer it now
    asker    BLOB NOT NULL,            -- the principal that asked, the desk for a gap
    submitter BLOB,                    -- for a gap: the principal that submitted the plan
    deadline INTEGER,                  -- when it ends unanswered
    changed  INTEGER NOT NULL          -- the place of the newest event that changed it
) STRICT;

-- Each ends with the ordinal, as every index does: whoever knows all its columns reads a page in order.
CREATE INDEX questions_list ON questions (outcome, people, severity);
CREATE INDEX questions_holder
    ON questions (coalesce(submitter, asker), outcome, people, severity, (submitter IS NULL));
CREATE INDEX questions_trace ON questions (trace);
CREATE INDEX questions_due ON questions (deadline) WHERE outcome = 'open' AND deadline IS NOT NULL;

CREATE TABLE confirmations (
    ordinal  INTEGER PRIMARY KEY REFERENCES events (ordinal), -- of the event that asked
    trace    INTEGER NOT NULL REFERENCES traces (id),
    sequence INTEGER NOT NULL,         -- the place of that event in its trace
    outcome  TEXT NOT NULL,            -- what became of it: open, given, refused, expired
    spent    INTEGER NOT NULL,         -- 1 if something was started on it
    people   INTEGER NOT NULL,         -- 1 if people may give or refuse it
    asker    BLOB NOT NULL,            -- the principal that asked
    deadline INTEGER,                  -- when it ends refused
    changed  INTEGER NOT NULL          -- the place of the newest event that changed it
) STRICT;
CREATE INDEX confirmations_list ON confirmations (outcome);
CREATE INDEX confirmations_due ON confirmations (deadline) WHERE outcome = 'open' AND deadline IS NOT NULL;

-- Operational: backed up, no part of the ledger --------------------------------------------------------------

-- One of each version of the code: two that share a store leave each other's alone.
CREATE TABLE snapshots (
    trace    INTEGER NOT NULL REFERENCES traces (id),
    version  INTEGER NOT NULL,      -- of the code that wrote it
    sequence INTEGER NOT NULL,      -- the newest event in it
    hash     BLOB NOT NULL,         -- its hash
    bytes    BLOB NOT NULL,         -- in a form only that version knows
    PRIMARY KEY (trace, version)
) STRICT;

-- What processes agree on without an event; changed by compare and swap.
CREATE TABLE records (
    version INTEGER PRIMARY KEY AUTOINCREMENT, -- another one with each change, never one that was there before
    key     TEXT NOT NULL UNIQUE,
    value   BLOB NOT NULL,
    expires INTEGER                 -- when it is due
) STRICT;
CREATE INDEX records_due ON records (expires, key) WHERE expires IS NOT NULL;

-- Messages in order, kept until their time.
CREATE TABLE posts (
    position INTEGER PRIMARY KEY AUTOINCREMENT, -- its place; never one that was there before
    stream   TEXT NOT NULL,
    name     TEXT,                  -- where it is posted once
    bytes    BLOB NOT NULL,         -- in a form that the stream's readers know
    expires  INTEGER                -- from when on it may be removed
) STRICT;
CREATE INDEX posts_stream ON posts (stream);
CREATE UNIQUE INDEX posts_name ON posts (stream, name) WHERE name IS NOT NULL;
CREATE INDEX posts_due ON posts (expires) WHERE expires IS NOT NULL;

-- Up to where consumers need nothing any more.
CREATE TABLE acknowledgements (
    stream   TEXT NOT NULL,
    consumer TEXT NOT NULL,
    position INTEGER NOT NULL,
    expires  INTEGER,
    PRIMARY KEY (stream, consumer)
) STRICT, WITHOUT ROWID;
CREATE INDEX acknowledgements_due ON acknowledgements (expires) WHERE expires IS NOT NULL;

-- Artifacts that were erased, until their files are removed.
CREATE TABLE leftovers (
    artifact BLOB PRIMARY KEY NOT NULL -- plain SHA-256, the name of the file
) STRICT, WITHOUT ROWID;

-- Who writes. A lease that ended in good order is gone; those left live, or their process crashed.
CREATE TABLE leases (
    id    INTEGER PRIMARY KEY AUTOINCREMENT, -- the writer of events
    rules BLOB NOT NULL,            -- the hash of the rules by which the process goes
    began INTEGER NOT NULL
) STRICT;

CREATE TABLE failures (
    trace    INTEGER PRIMARY KEY REFERENCES traces (id),
    sequence INTEGER,               -- where the violation was found, if at one event
    code     TEXT NOT NULL          -- the verifier's code
) STRICT;
