-- Version 3: what is written to stay has a checksum of what it was; a row that is older has none. SQLite has none for its pages, and
-- would give back whatever the disk does.

ALTER TABLE streams ADD COLUMN checksum INTEGER;
ALTER TABLE events ADD COLUMN checksum INTEGER;
ALTER TABLE outbox ADD COLUMN checksum INTEGER;
ALTER TABLE commands ADD COLUMN checksum INTEGER;
