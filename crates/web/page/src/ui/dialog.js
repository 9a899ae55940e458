// Dialogs: the browser's own, with the focus back where it was.
import { h, signal, useEffect, useRef } from '../h.js';

/** @typedef {(close: (answer?: any) => void) => import('../types').Children} Content */

/**
 * @type {import('../../vendor/signals.js').Signal<{id: number, label: string, content: Content, done:
 *   (answer: any) => void}[]>}
 */
const open = signal([]);
let next = 1;

/**
 * Show a dialog; the promise is kept when it closes: with what `close` was given, undefined where it was
 * dismissed.
 * @param {string} label @param {Content} content @returns {Promise<any>}
 */
export const ask = (label, content) => new Promise(resolve => {
  const id = next++;
  const done = (/** @type {any} */ answer) => {
    open.value = open.peek().filter(it => it.id !== id);
    resolve(answer);
  };
  open.value = [...open.peek(), { id, label, content, done }];
});

/** True while a dialog is open: keys of the page rest. */
export const isAsking = () => open.value.length > 0;

/**
 * A dialog that is shown for as long as it is drawn.
 * @param {{label: string, onClose: () => void, children?: import('../types').Children, class?: string}} props
 */
export const Dialog = ({ label, onClose, children, ...rest }) => {
  const ref = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const before = document.activeElement;
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      // What is behind a dialog can take the focus only once that is no longer modal.
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      else document.querySelector('h1')?.focus();
    };
  }, []);
  return h('dialog', {
    ...rest,
    ref,
    'aria-label': label,
    onCancel: (/** @type {Event} */ event) => {
      event.preventDefault();
      onClose();
    },
    onClick: (/** @type {MouseEvent} */ event) => {
      // A press beside it, on the backdrop, dismisses it.
      if (event.target === ref.current) onClose();
    },
  }, h('div', { class: 'dialog-body' }, children));
};

/** The dialogs that were asked for. */
export const Dialogs = () => open.value.map(({ id, label, content, done }) =>
  h(Dialog, { key: id, label, onClose: () => done(undefined) }, content(done)));
