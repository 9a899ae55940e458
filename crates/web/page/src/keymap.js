// Which keys do something now: pages and parts offer them for as long as they are shown; and what a press means.
import { computed, signal, useEffect, useRef } from './h.js';

/** @typedef {import('./types').Binding} Binding */

/** @type {import('../vendor/signals.js').Signal<Map<object, Binding[]>>} */
const offered = signal(new Map());

/** All bindings of what is shown; of one key, the latest to be offered comes last and wins. */
export const bindings = computed(() => [...offered.value.values()].flat());

/**
 * Offer keys while the component is shown. They are offered anew whenever `deps` change.
 * @param {Binding[]} own @param {unknown[]} deps
 */
export const useKeys = (own, deps) => {
  const owner = useRef({});
  useEffect(() => {
    const me = owner.current;
    const map = new Map(offered.peek());
    map.set(me, own);
    offered.value = map;
    return () => {
      const rest = new Map(offered.peek());
      rest.delete(me);
      offered.value = rest;
    };
  }, deps);
};

/**
 * What a press may mean. `key` has the names of `nameOf`; several with spaces between them are pressed one after
 * the other.
 * @typedef {import('./types').Binding & {group?: string}} GroupedBinding
 */

/** The time within which a sequence of keys goes on. */
export const SEQUENCE_MS = 1_500;

/** Keys that have no character are never switched off (WCAG 2.1.4 is about characters).
 * @type {ReadonlySet<string>} */
const NAMED = new Set(['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End', 'Enter', 'Escape']);

/**
 * The name of a press: the character, or the name of the key, with `ctrl+` before it where Ctrl or ⌘ is held. Null
 * where it belongs to an input method, or is a modifier alone.
 * @param {Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey" | "isComposing" | "keyCode" | "getModifierState">} event
 * @returns {string | null}
 */
export const nameOf = event => {
  if (event.isComposing || event.keyCode === 229) return null;
  const { key } = event;
  // AltGr is reported as Ctrl and Alt on some systems, and makes `[` and `]` on many keyboards.
  const isCharacter = [...key].length === 1;
  if (isCharacter && event.getModifierState('AltGraph')) return key;
  if (event.altKey || (!isCharacter && !NAMED.has(key))) return null;
  if (event.ctrlKey || event.metaKey) return `ctrl+${key.toLowerCase()}`;
  return isCharacter ? key : `${event.shiftKey ? 'shift+' : ''}${key}`;
};

/** Whether a binding has a character without a modifier, so that a person can switch it off.
 * @param {string} keys */
export const isSingle = keys => keys.split(' ').some(name => [...name].length === 1);

/** The bindings that count: those that are not switched off, and of the same keys the latest.
 * @param {readonly GroupedBinding[]} bindings @param {boolean} single Whether keys that are characters count. */
export const counting = (bindings, single) => {
  /** @type {Map<string, GroupedBinding>} */
  const latest = new Map();
  for (const binding of bindings) if (single || !isSingle(binding.key)) latest.set(binding.key, binding);
  return [...latest.values()];
};

/** The presses so far: a sequence may have been begun. */
export class Presses {
  /** @type {string[]} */
  #begun = [];
  #begunAt = 0;

  /** The keys of a sequence that was begun. */
  get begun() {
    return this.#begun.join(' ');
  }

  /**
   * A key was pressed: the binding that it means; `begun` where more keys are to come; else null.
   * @param {string} name
   * @param {number} now milliseconds
   * @param {readonly GroupedBinding[]} bindings Those that count.
   * @returns {GroupedBinding | 'begun' | null}
   */
  press(name, now, bindings) {
    const goesOn = this.#begun.length > 0 && now - this.#begunAt <= SEQUENCE_MS;
    const begun = goesOn ? this.#begun : [];
    const found = meaning([...begun, name], bindings);
    // A sequence that means nothing is forgotten, and its last key counts by itself.
    const meant = found === null && begun.length > 0 ? meaning([name], bindings) : found;
    this.#begun = meant === 'begun' ? (found === 'begun' ? [...begun, name] : [name]) : [];
    this.#begunAt = now;
    return meant;
  }
}

/** @param {string[]} names @param {readonly GroupedBinding[]} bindings */
const meaning = (names, bindings) => {
  const keys = names.join(' ');
  const exact = bindings.find(binding => binding.key === keys);
  if (exact) return exact;
  return bindings.some(binding => binding.key.startsWith(`${keys} `)) ? 'begun' : null;
};
