// The question before an act that wants one: what it does, a text where one belongs to it, and the line to
// type.
import { h, useRef, useState } from '../h.js';
import { Copy } from './copy.js';
import { ask } from './dialog.js';
import { Outside, SaidLines, visible } from './outside.js';

/**
 * @typedef {object} Question
 * @property {string} title What is asked, whole.
 * @property {string} [says] What it does, in words: from outside, or crew's.
 * @property {string} [label] The label of the text; none where no text belongs to it.
 * @property {boolean} [required] Whether the text may be empty.
 * @property {string} yes The words of the button.
 * @property {boolean} [danger]
 * @property {string | null} [line] The line to type instead.
 */

/**
 * @param {Question & {close: (text?: string) => void}} props
 */
const Confirm = ({ title, says, label, required, yes, danger, line, close }) => {
  const [text, setText] = useState('');
  const [missing, setMissing] = useState(false);
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const send = () => {
    if (required && !text.trim()) {
      setMissing(true);
      field.current?.focus();
    } else close(text.trim());
  };
  return h('form', {
    class: 'dialog-form',
    onSubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      send();
    },
  },
  h('h2', null, h(Outside, { text: title })),
  says && h('p', null, h(SaidLines, { text: says })),
  label && h('label', { class: 'field' }, label,
    h('textarea', {
      ref: field, value: text, rows: 3, dir: 'auto', autofocus: true, 'aria-invalid': missing ? 'true' : undefined,
      onInput: (/** @type {Event & {currentTarget: HTMLTextAreaElement}} */ event) => {
        setText(event.currentTarget.value);
        setMissing(false);
      },
      onKeyDown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.isComposing) {
          event.preventDefault();
          send();
        }
      },
    })),
  missing && h('p', { class: 'wrong', role: 'alert' }, 'Write something first.'),
  h('div', { class: 'dialog-acts' },
    line && h(Copy, { line }),
    h('button', { type: 'button', onClick: () => close(undefined) }, 'Cancel'),
    h('button', { type: 'submit', class: `main ${danger ? 'danger' : ''}`, autofocus: !label }, yes)));
};

/**
 * Ask; the text ('' where none is wanted), or undefined where it was dismissed.
 * @param {Question} question
 */
export const confirm = question => /** @type {Promise<string | undefined>} */ (
  ask(visible(question.title), close => h(Confirm, { ...question, close })));
