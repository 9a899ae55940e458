// A short list that stands still while it is hovered or focused: what comes and goes is taken up when it is
// left.
import { useRef, useState } from '../h.js';

/**
 * @template T
 * @param {string[]} keys The order as it is now. @param {Map<string, T>} docs
 * @returns {{rows: {key: string, doc: T, gone: boolean}[], still: object}} `still`: for the element around
 *   the rows.
 */
export const useStill = (keys, docs) => {
  const [hovered, setHovered] = useState(false);
  const [focused, setFocused] = useState(false);
  const held = useRef(/** @type {{keys: string[], docs: Map<string, T>}} */ ({ keys: [], docs: new Map() }));
  if (!hovered && !focused) held.current = { keys, docs: new Map() };
  const shown = held.current;
  const rows = shown.keys.flatMap(key => {
    const now = docs.get(key);
    if (now !== undefined) shown.docs.set(key, now);
    const doc = shown.docs.get(key);
    return doc === undefined ? [] : [{ key, doc, gone: now === undefined }];
  });
  return {
    rows,
    still: {
      onPointerEnter: (/** @type {PointerEvent} */ event) => event.pointerType === 'mouse' && setHovered(true),
      onPointerLeave: () => setHovered(false),
      onFocusIn: () => setFocused(true),
      onFocusOut: (/** @type {FocusEvent & {currentTarget: Element}} */ event) => {
        if (!(event.relatedTarget instanceof Node) || !event.currentTarget.contains(event.relatedTarget)) setFocused(false);
      },
    },
  };
};
