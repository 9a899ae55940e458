// A count that grows when the journal has a new row of a stream, at most once a second.
import { useEffect, useState } from '../h.js';
import { rows } from '../store.js';

/** @param {string} stream */
export const useRows = stream => {
  const [count, setCount] = useState(0);
  useEffect(() => {
    let timer = 0;
    /** @param {any} event */
    const look = ({ type, detail }) => {
      if (type === 'row' && detail.stream !== stream) return;
      timer ||= setTimeout(() => {
        timer = 0;
        setCount(n => n + 1);
      }, 1_000);
    };
    for (const type of ['row', 'gap']) rows.addEventListener(type, look);
    return () => {
      for (const type of ['row', 'gap']) rows.removeEventListener(type, look);
      clearTimeout(timer);
    };
  }, [stream]);
  return count;
};
