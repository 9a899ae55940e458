// What this browser keeps, in its localStorage; and what the page is to look like here.
import { signal, effect } from './h.js';

/** What is kept; null where it is not, or the browser keeps nothing. @param {string} key */
export const kept = key => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};

/** Keep something; null forgets it. @param {string} key @param {string | null} text @returns {boolean} Whether this browser keeps it. */
export const keep = (key, text) => {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
};

/** Whether this device tells what comes to wait: `on` or `off`; the page Device sets it. */
export const NOTIFY = 'crew.notify';

const KEY = 'crew.prefs';

/**
 * @typedef {object} Prefs
 * @property {'auto' | 'light' | 'dark'} theme
 * @property {'comfortable' | 'compact'} density
 * @property {boolean} keys Whether single letters are keys.
 */

/** @type {Prefs} */
const usual = { theme: 'auto', density: 'comfortable', keys: true };

/** @returns {Prefs} */
const stored = () => {
  try {
    return { ...usual, ...JSON.parse(kept(KEY) ?? '{}') };
  } catch {
    return usual;
  }
};

export const prefs = signal(stored());

/** Change some of them. @param {Partial<Prefs>} some */
export const prefer = some => {
  prefs.value = { ...prefs.value, ...some };
  // Where they are not kept, they hold for this page.
  keep(KEY, JSON.stringify(prefs.value));
};

effect(() => {
  const root = document.documentElement;
  root.dataset.theme = prefs.value.theme;
  root.dataset.density = prefs.value.density;
});
