// Reading something of the server for a part of a page.
import { useEffect, useState } from '../h.js';
import { Problem, get } from '../api.js';
import { live } from '../store.js';

/**
 * The answer of a call; it is read anew when the path or `deps` change, and when the server is there again
 * that could not be reached. What was read stays while it is read anew.
 * @param {string | null} path Below `api/v1/`; null for none.
 * @param {unknown[]} [deps]
 * @returns {{data: any, problem: Problem | null, retry: () => void}}
 */
export const useGet = (path, deps = []) => {
  const [again, setAgain] = useState(0);
  const [answer, setAnswer] = useState(/** @type {{path: string | null, data: any, problem: Problem | null}} */ (
    { path: null, data: null, problem: null }));
  useEffect(() => {
    if (path === null) return undefined;
    const abort = new AbortController();
    get(path, abort.signal).then(
      data => setAnswer({ path, data, problem: null }),
      error => {
        if (abort.signal.aborted) return;
        if (!(error instanceof Problem)) throw error;
        setAnswer(was => ({ path, data: was.path === path ? was.data : null, problem: error }));
      },
    );
    return () => abort.abort();
  }, [path, again, ...deps]);
  const isLost = answer.problem?.lost ?? false;
  const isLive = live.value.state === 'live';
  useEffect(() => {
    if (isLost && isLive) setAgain(n => n + 1);
  }, [isLost, isLive]);
  const same = answer.path === path;
  return {
    data: same ? answer.data : null, problem: same ? answer.problem : null, retry: () => setAgain(n => n + 1),
  };
};
