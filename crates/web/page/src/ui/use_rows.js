// A count that grows when the journal has a new row of a stream, at most once a second.
import { useEffect, useState } from '../h.js';
import { rows } from '../store.js';

/** @param {string} stream */
export const useRows = stream => {
  const [count, setCount] = useState(0);
  useEffect(() => {
    let timer = 0;
    /** @param {any} event */
    const look = ({ detail }) => {
      if (detail?.stream !== stream || timer) return;
      timer = setTimeout(() => {
        timer = 0;
        setCount(n => n + 1);
      }, 1_000);
    };
    rows.addEventListener('row', look);
    return () => {
      rows.removeEventListener('row', look);
      clearTimeout(timer);
    };
  }, [stream]);
  return count;
};
