-- Version 2: who goes on reads nothing of what lies behind, and who looks back reads no more than it asks for.

CREATE INDEX streams_live ON streams (id) WHERE archived = 0;

-- What faces show, folded up to a row. Derived: made anew from the events where there is none, or one of another shape.
CREATE TABLE folded (
    name        TEXT    NOT NULL PRIMARY KEY,
    shape       INTEGER NOT NULL,
    seq         INTEGER NOT NULL CHECK (seq > 0),
    body        TEXT    NOT NULL
) STRICT;

-- What was taken out of it, stream by stream; derived too. It counts where the fold says that it was taken out.
CREATE TABLE records (
    stream      TEXT    NOT NULL PRIMARY KEY REFERENCES streams (id),
    version     INTEGER NOT NULL CHECK (version > 0),
    brief       TEXT    NOT NULL,
    rest        TEXT    NOT NULL
) STRICT;
