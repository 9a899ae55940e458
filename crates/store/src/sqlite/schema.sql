-- The journal, version 1. PostgreSQL can have the same: no rowid, no affinity, only text and 64-bit integers; names
-- compare by their bytes (there: COLLATE "C").

CREATE TABLE streams (
    id          TEXT    NOT NULL PRIMARY KEY,
    kind        TEXT    NOT NULL,
    version     INTEGER NOT NULL CHECK (version > 0),
    fence       INTEGER NOT NULL CHECK (fence >= 0),
    state       TEXT    NOT NULL,
    archived    INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1))
) STRICT;

CREATE TABLE events (
    seq         INTEGER NOT NULL PRIMARY KEY CHECK (seq > 0),
    stream      TEXT    NOT NULL REFERENCES streams (id),
    version     INTEGER NOT NULL CHECK (version > 0),
    at          INTEGER NOT NULL,
    cause       TEXT,
    kind        TEXT    NOT NULL,
    schema      INTEGER NOT NULL,
    event       TEXT    NOT NULL,
    state_after TEXT    NOT NULL,
    UNIQUE (stream, version)
) STRICT;

CREATE TRIGGER events_do_not_change BEFORE UPDATE ON events
BEGIN SELECT RAISE (ABORT, 'an event never changes'); END;

CREATE TRIGGER events_do_not_go BEFORE DELETE ON events
BEGIN SELECT RAISE (ABORT, 'an event never goes'); END;

CREATE TABLE outbox (
    seq         INTEGER NOT NULL REFERENCES events (seq),
    "index"     INTEGER NOT NULL CHECK ("index" >= 0),
    stream      TEXT    NOT NULL REFERENCES streams (id),
    effect      TEXT    NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0,
    run_at      INTEGER,
    done_at     INTEGER,
    PRIMARY KEY (seq, "index")
) STRICT;

CREATE INDEX outbox_undone ON outbox (seq, "index") WHERE done_at IS NULL;

-- A timer that is not set keeps its row, without a due time: its generation must never come back.
CREATE TABLE timers (
    stream      TEXT    NOT NULL REFERENCES streams (id),
    key         TEXT    NOT NULL,
    generation  INTEGER NOT NULL CHECK (generation > 0),
    due         INTEGER,
    PRIMARY KEY (stream, key)
) STRICT;

CREATE INDEX timers_due ON timers (due, stream, key) WHERE due IS NOT NULL;

CREATE TABLE slots (
    agent       TEXT    NOT NULL PRIMARY KEY,
    ticket      TEXT    NOT NULL UNIQUE,
    fence       INTEGER NOT NULL CHECK (fence >= 0)
) STRICT;

-- A key is written before the facts that it stands for, so that a known one is met first. It refers to them without a
-- constraint: a deferred one has every new event look for keys that wait for it. The audit checks it instead.
CREATE TABLE keys (
    key         TEXT    NOT NULL PRIMARY KEY,
    stream      TEXT    NOT NULL,
    first_seq   INTEGER NOT NULL CHECK (first_seq > 0),
    last_seq    INTEGER NOT NULL CHECK (last_seq >= first_seq),
    version     INTEGER NOT NULL CHECK (version > 0)
) STRICT;

CREATE TABLE commands (
    number      INTEGER NOT NULL PRIMARY KEY CHECK (number > 0),
    id          TEXT    NOT NULL UNIQUE,
    "by"        TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    body        TEXT    NOT NULL,
    outcome     TEXT,
    settled_at  INTEGER
) STRICT;

CREATE INDEX commands_pending ON commands (number) WHERE outcome IS NULL;
