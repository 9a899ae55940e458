// The service worker of this page: the one script that is named by a string, so that one policy lets its address through.
import { base } from './api.js';
import { go } from './router.js';

const ADDRESS = `${base}sw.js`;

/** The address as the browser wants it under `require-trusted-types-for`. */
const trusted = () => {
  /** @type {any} */
  const types = /** @type {any} */ (globalThis).trustedTypes;
  if (!types) return ADDRESS;
  const policy = types.createPolicy('crew', {
    createScriptURL: (/** @type {string} */ url) => {
      if (url === ADDRESS) return url;
      throw new TypeError(`${url} is no script of crew.`);
    },
  });
  return policy.createScriptURL(ADDRESS);
};

/** @type {Promise<ServiceWorkerRegistration | null> | null} */
let begun = null;

/** The registration; null where the browser has none to give, as on an address that is not safe. */
export const registration = () => (begun ??= register());

const register = async () => {
  if (!('serviceWorker' in navigator) || !globalThis.isSecureContext) return null;
  navigator.serviceWorker.addEventListener('message', ({ data }) => {
    if (typeof data?.go === 'string' && data.go.startsWith(base)) go(data.go);
  });
  try {
    const it = await navigator.serviceWorker.register(trusted(), { scope: base, updateViaCache: 'none' });
    await navigator.serviceWorker.ready;
    keep(it);
    return it;
  } catch {
    // The page works without it: it only cannot be opened while the server is away, nor tell anything.
    return null;
  }
};

/** Have the modules kept that were loaded before the worker was there. @param {ServiceWorkerRegistration} it */
const keep = it => {
  const urls = performance.getEntriesByType('resource').map(entry => entry.name).filter(url => url.startsWith(`${base}a/`));
  it.active?.postMessage({ keep: [...new Set(urls)] });
};
