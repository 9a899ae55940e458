-- Version 5: the events of a stream are a chain: each says which one was before it, and the stream which is its first and which
-- its last. An index of the events by stream has a page for each stream, and every append writes one of its own; this one grows near
-- its end, for what is at work. A stream's state stands in its last event alone.
-- The links are taken from the rows alone, as they follow each other: what their versions say, or the old index, may be damaged, and
-- is brought along for an audit to name it.

CREATE TABLE new_streams (
    id          TEXT    NOT NULL PRIMARY KEY,
    kind        TEXT    NOT NULL,
    version     INTEGER NOT NULL CHECK (version > 0),
    fence       INTEGER NOT NULL CHECK (fence >= 0),
    first       INTEGER NOT NULL,
    last        INTEGER NOT NULL,
    archived    INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
    checksum    INTEGER
) STRICT;

INSERT INTO new_streams (id, kind, version, fence, first, last, archived, checksum)
SELECT id, kind, version, fence, coalesce(ends.first, 0), coalesce(ends.last, 0), archived, checksum
FROM streams LEFT JOIN (SELECT stream, min(seq) AS first, max(seq) AS last FROM events NOT INDEXED GROUP BY stream) AS ends
    ON ends.stream = id
ORDER BY id;

CREATE TABLE new_events (
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
    checksum    INTEGER
) STRICT;

INSERT INTO new_events (seq, stream, version, prev, at, cause, kind, schema, event, state_after, checksum)
SELECT events.seq, stream, version, prev, at, cause, kind, schema, event, state_after, checksum
-- In this order, for only the places to be sorted, and not the events.
FROM events CROSS JOIN
    (SELECT seq, lag(seq) OVER (PARTITION BY stream ORDER BY seq) AS prev FROM events NOT INDEXED) AS links
    ON links.seq = events.seq
ORDER BY events.seq;

DROP TABLE events;
DROP TABLE streams;
ALTER TABLE new_streams RENAME TO streams;
ALTER TABLE new_events RENAME TO events;

CREATE INDEX streams_live ON streams (id) WHERE archived = 0;
CREATE UNIQUE INDEX events_next ON events (prev) WHERE prev IS NOT NULL;

CREATE TRIGGER events_do_not_change BEFORE UPDATE ON events
BEGIN SELECT RAISE (ABORT, 'an event never changes'); END;

CREATE TRIGGER events_do_not_go BEFORE DELETE ON events
BEGIN SELECT RAISE (ABORT, 'an event never goes'); END;
