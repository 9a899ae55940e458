// Waiting for facts: a test never sleeps and hopes.

/** How long a fact may take, in ms; a machine with much to do needs long. */
export const DEADLINE = 60_000;

const rest = ms => new Promise(resolve => setTimeout(resolve, ms));

/** Looks again and again until something is so, and returns it; fails after a while. */
export async function until(what, look, deadline = DEADLINE) {
  const end = Date.now() + deadline;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > end) throw new Error(`after ${deadline / 1000} s not yet: ${what}`);
    await rest(50);
  }
}
