-- Version 4: an effect that fails each time says why, to whoever asks what waits for a person.

ALTER TABLE outbox ADD COLUMN why TEXT;
