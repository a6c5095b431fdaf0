-- Version 2: the list of questions (docs/design/003). Filled from the events that are there when a store of version 1
-- is opened.

-- Derived: written with the events, rebuilt from them at will ------------------------------------------------

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
    deadline INTEGER,                  -- when it ends unanswered
    changed  INTEGER NOT NULL          -- the place of the newest event that changed it
) STRICT;

-- Each ends with the ordinal, as every index does: whoever knows all its columns reads a page in order.
CREATE INDEX questions_list ON questions (outcome, people, severity);
CREATE INDEX questions_asker ON questions (asker, outcome, people, severity);
CREATE INDEX questions_trace ON questions (trace);
CREATE INDEX questions_due ON questions (deadline) WHERE outcome = 'open' AND deadline IS NOT NULL;
