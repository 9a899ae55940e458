// What this browser is to look like: kept here alone, in localStorage.
import { signal, effect } from './h.js';

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
    return { ...usual, ...JSON.parse(localStorage.getItem(KEY) ?? '{}') };
  } catch {
    return usual;
  }
};

export const prefs = signal(stored());

/** Change some of them. @param {Partial<Prefs>} some */
export const prefer = some => {
  prefs.value = { ...prefs.value, ...some };
  try {
    localStorage.setItem(KEY, JSON.stringify(prefs.value));
  } catch { /* Without storage they hold for this page. */ }
};

effect(() => {
  const root = document.documentElement;
  root.dataset.theme = prefs.value.theme;
  root.dataset.density = prefs.value.density;
});
