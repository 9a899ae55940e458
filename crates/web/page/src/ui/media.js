// What the window is like: parts that cost something are not only hidden in a narrow one, but not there.
import { useEffect, useState } from '../h.js';

/** Whether a media query holds. @param {string} query */
export const useMedia = query => {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const look = () => setHolds(list.matches);
    look();
    list.addEventListener('change', look);
    return () => list.removeEventListener('change', look);
  }, [query]);
  return holds;
};

/** A window in which a list and a detail stand side by side. */
export const useWide = () => useMedia('(min-width: 1200px)');
