-- Version 1 of the journal's tables. PostgreSQL can have the same: no rowid, no affinity, only text and
-- 64-bit integers; names compare by their bytes (there: COLLATE "C").
--
-- Rows that never change have a checksum of their values: SQLite has none for its pages, and returns whatever
-- the disk returns.

-- The events of a stream are a chain: each event names the one before it, and the stream names its first and
-- its last. An index of the events by stream would have a page for each stream, and every append would write
-- one. A stream's state is stored in its last event alone.
CREATE TABLE streams (
    id          TEXT    NOT NULL PRIMARY KEY,
    version     INTEGER NOT NULL CHECK (version > 0),
    fence       INTEGER NOT NULL CHECK (fence >= 0),
    first       INTEGER NOT NULL,
    last        INTEGER NOT NULL,
    archived    INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
    checksum    INTEGER NOT NULL
) STRICT;

CREATE INDEX streams_live ON streams (id) WHERE archived = 0;

CREATE TABLE events (
    seq         INTEGER NOT NULL PRIMARY KEY CHECK (seq > 0),
    stream      TEXT    NOT NULL REFERENCES streams (id),
    version     INTEGER NOT NULL CHECK (version > 0),
    prev        INTEGER CHECK (prev < seq),
    at          INTEGER NOT NULL,
    cause       TEXT,
    kind        TEXT    NOT NULL,
    schema      INTEGER NOT NULL,
    event       TEXT    NOT NULL,
    state_after TEXT    NOT NULL,
    checksum    INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX events_next ON events (prev) WHERE prev IS NOT NULL;

CREATE TRIGGER events_do_not_change BEFORE UPDATE ON events
BEGIN SELECT RAISE (ABORT, 'an event never changes'); END;

CREATE TRIGGER events_do_not_go BEFORE DELETE ON events
BEGIN SELECT RAISE (ABORT, 'an event never goes'); END;

-- `why` is the failure of the last try, where a person must read it.
CREATE TABLE outbox (
    seq         INTEGER NOT NULL REFERENCES events (seq),
    "index"     INTEGER NOT NULL CHECK ("index" >= 0),
    stream      TEXT    NOT NULL REFERENCES streams (id),
    effect      TEXT    NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 0,
    run_at      INTEGER,
    done_at     INTEGER,
    why         TEXT,
    checksum    INTEGER NOT NULL,
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
    ticket      TEXT    NOT NULL,
    fence       INTEGER NOT NULL CHECK (fence >= 0),
    UNIQUE (ticket, fence)
) STRICT;

-- A key is written before its events, so that a repeated key is found first. It refers to them without a
-- constraint: with a deferred one, each new event would look for keys that wait for it. The audit checks the
-- reference instead.
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
    answered_at INTEGER,
    checksum    INTEGER NOT NULL
) STRICT;

CREATE INDEX commands_pending ON commands (number) WHERE outcome IS NULL;

-- The view of the journal up to an event, as a cache: made anew from the events where there is none, or one
-- of another shape. It has one row; its pieces are beside it.
CREATE TABLE cached_view (
    one         INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    shape       INTEGER NOT NULL,
    seq         INTEGER NOT NULL CHECK (seq > 0),
    first       INTEGER NOT NULL CHECK (first >= 0),
    pieces      INTEGER NOT NULL CHECK (pieces >= 0)
) STRICT;

CREATE TABLE view_pieces (
    number      INTEGER NOT NULL PRIMARY KEY CHECK (number >= 0),
    body        TEXT    NOT NULL
) STRICT;

-- The parts of the view that belong to archived streams, stream by stream; derived too. A record counts while
-- the cached view lists its stream as archived.
CREATE TABLE records (
    stream      TEXT    NOT NULL PRIMARY KEY REFERENCES streams (id),
    version     INTEGER NOT NULL CHECK (version > 0),
    brief       TEXT    NOT NULL,
    rest        TEXT    NOT NULL
) STRICT;
