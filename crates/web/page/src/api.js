// Calls to the server: the token of this device, and the problems that it answers.
import { signal } from './h.js';
import { keep, kept } from './prefs.js';

/** @typedef {import('./types').ProblemBody} ProblemBody */
/** @typedef {import('./types').Device} Device */

const TOKEN = 'crew.token';
const DEVICE = 'crew.device';

/** The address that everything of crew lies below, with a slash at the end. */
export const base = new URL(
  document.querySelector('meta[name="crew-root"]')?.getAttribute('content') || './', location.href,
).href;

const API = `${base}api/v1/`;

/** An answer that is no success; `status` 0 where there was no answer at all. */
export class Problem extends Error {
  /** @param {Partial<ProblemBody> & {title: string}} body */
  constructor(body) {
    super(body.detail || body.title);
    this.status = body.status ?? 0;
    this.type = body.type ?? '';
    this.title = body.title;
    this.detail = body.detail ?? '';
    this.hint = body.hint ?? null;
    this.now = body.now;
  }

  /** True where nothing answered: the server, or the way to it, is gone. */
  get lost() {
    return this.status === 0 || this.status === 502 || this.status === 504;
  }
}

/** Whether the token is in this page alone: the browser keeps nothing. */
export const forgets = signal(false);

let token = kept(TOKEN);

/** @returns {Device | null} */
const storedDevice = () => {
  try {
    return JSON.parse(kept(DEVICE) ?? 'null');
  } catch {
    return null;
  }
};

/** The device that this browser is paired as; null where it is not known. */
export const device = signal(storedDevice());

/**
 * Whether this browser is paired: `none` before it was, `refused` once its token is not taken any more.
 * @type {import('../vendor/signals.js').Signal<{state: 'none' | 'paired' | 'refused', why: Problem | null}>}
 */
export const session = signal({ state: token ? 'paired' : 'none', why: null });

/** True where this device may only look. */
export const looksOnly = () => device.value?.scope === 'look';

/** @param {string} name @returns {Record<string, string>} */
export const authorization = (name = 'Authorization') => (token ? { [name]: `Bearer ${token}` } : {});

/** The answer as a problem. @param {Response} response */
export const problemOf = async response => {
  /** @type {ProblemBody} */
  let body = { type: '', title: response.statusText || `HTTP ${response.status}`, status: response.status };
  try {
    body = { ...body, ...(await response.json()), status: response.status };
  } catch { /* The answer is none of crew's. */ }
  const problem = new Problem(body);
  if (response.status === 401) session.value = { state: token ? 'refused' : 'none', why: problem };
  return problem;
};

/** What the server's clock is ahead of this one, in ms, as far as it matters. */
export const skew = signal(0);

/** Compare the clocks: answers name whole seconds, and take a while. @param {Response} response */
const heed = response => {
  const date = Date.parse(response.headers.get('Date') ?? '');
  if (Number.isNaN(date)) return;
  const ahead = date + 500 - Date.now();
  const matters = Math.abs(ahead) > 2_000 ? ahead : 0;
  // It is not corrected for every answer that was a little late.
  if (Math.abs(matters - skew.peek()) > 1_000) skew.value = matters;
};

/**
 * Send a request.
 * @param {string} method @param {string} path Below `api/v1/`. @param {unknown} [body]
 * @param {AbortSignal} [abort]
 * @returns {Promise<Response>} A success.
 */
export const send = async (method, path, body, abort) => {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(API + path.replace(/^\//, ''), {
      method,
      headers: { ...authorization(), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: abort,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
    });
  } catch (error) {
    if (abort?.aborted) throw error;
    throw new Problem({ title: 'crew does not answer', detail: `Nothing answers at ${base}.` });
  }
  heed(response);
  if (response.ok) return response;
  throw await problemOf(response);
};

/**
 * The body of an answer. A line that is lost on the way is a problem as one that was never there.
 * @template T @param {Promise<T>} reading @param {AbortSignal} [abort] @returns {Promise<T>}
 */
const whole = async (reading, abort) => {
  try {
    return await reading;
  } catch (error) {
    if (abort?.aborted || !(error instanceof TypeError)) throw error;
    throw new Problem({ title: 'crew does not answer', detail: 'The answer broke off before its end: try it again.' });
  }
};

/** @param {Response} response @param {AbortSignal} [abort] */
const json = (response, abort) => (response.status === 204 ? null : whole(response.json(), abort));

/** What an address has, as a file. @param {string} path @returns {Promise<Blob>} */
export const file = async path => whole((await send('GET', path)).blob());
/** @param {string} path @param {AbortSignal} [abort] @returns {Promise<any>} */
export const get = async (path, abort) => json(await send('GET', path, undefined, abort), abort);
/** @param {string} path @param {unknown} body @returns {Promise<any>} */
export const put = async (path, body) => json(await send('PUT', path, body));
/** @param {string} path @param {unknown} body @returns {Promise<any>} */
const post = async (path, body) => json(await send('POST', path, body));
/** @param {string} path @returns {Promise<any>} */
export const del = async path => json(await send('DELETE', path));

/** A path below `api/v1/`, each piece encoded. @param {...string} pieces */
export const path = (...pieces) => pieces.map(encodeURIComponent).join('/');

/** Pair this browser with the code of a link. @param {string} code @param {string} name */
export const pair = async (code, name) => {
  const answer = await post('pair', { code, name });
  token = answer.token;
  forgets.value = !keep(TOKEN, token);
  know(answer.device);
  session.value = { state: 'paired', why: null };
};

/** Keep what is known of this device. @param {Device | null} it */
export const know = it => {
  device.value = it;
  keep(DEVICE, it && JSON.stringify(it));
};

/** Forget the token, as after a revocation. */
export const unpair = () => {
  token = null;
  keep(TOKEN, null);
  know(null);
  session.value = { state: 'none', why: null };
};

// Another tab pairs or forgets this browser, or learns what it may do.
addEventListener('storage', event => {
  if (event.key === DEVICE) device.value = storedDevice();
  if (event.key !== TOKEN) return;
  token = event.newValue;
  session.value = { state: token ? 'paired' : 'none', why: null };
});
