// What counts on this device of all that waits: what is snoozed here goes on waiting, and does not count.
import { computed, signal } from './h.js';
import { keep, kept } from './prefs.js';
import { docs, inbox, now, repo } from './store.js';

/** @typedef {import('./types').Item} Item */
/** @typedef {{until: number, as: string}} Snooze `until`: a moment in ms; 0: until the item is not `as` it was. */

const KEY = 'crew.snoozed';

/** @returns {Record<string, Snooze>} */
const stored = () => {
  try {
    return JSON.parse(kept(KEY) ?? '{}');
  } catch {
    return {};
  }
};

/** By repository and item. */
const snoozes = signal(stored());

// Another tab of this browser snoozed something.
addEventListener('storage', ({ key }) => {
  if (key === KEY) snoozes.value = stored();
});

/** @param {Item} item */
const keyOf = item => `${repo.value}/${item.id}`;

/** What of an item is the same until it has changed. @param {Item} item */
const likeness = item => JSON.stringify([item.title, item.urgency, item.since, item.question]);

/** The snooze of an item, while it holds. @param {Item} item */
export const snoozeOf = item => {
  const snooze = snoozes.value[keyOf(item)];
  const holds = snooze && (snooze.until ? snooze.until > now.value : snooze.as === likeness(item));
  return holds ? snooze : null;
};

/**
 * Snooze an item until a moment, with 0 until it changes; with null it counts again.
 * @param {Item} item @param {number | null} until
 */
export const snooze = (item, until) => {
  const own = `${repo.value}/`;
  const waits = (/** @type {string} */ key) => !key.startsWith(own) || docs.item.peek().has(key.slice(own.length));
  // Nothing is kept of what waits no more.
  const rest = Object.entries(snoozes.peek()).filter(([key]) => key !== keyOf(item) && waits(key));
  if (until !== null) rest.push([keyOf(item), { until, as: likeness(item) }]);
  snoozes.value = Object.fromEntries(rest);
  // Where it is not kept, it holds for this page.
  keep(KEY, JSON.stringify(snoozes.value));
};

/** How many items count: `parked` ones are only a dot. */
export const waiting = computed(() => inbox.value.filter(item => item.urgency !== 'parked' && !snoozeOf(item)).length);
