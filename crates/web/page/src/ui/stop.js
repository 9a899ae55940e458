// Stopping the engine: what is to become of the steps that run.
import { h, useState } from '../h.js';
import { command } from '../acts.js';
import { Copy } from './copy.js';
import { ask } from './dialog.js';

/** @type {[string, string, string][]} */
const ways = [
  ['finish', 'Finish', 'Running steps end first. Nothing is lost.'],
  ['leave', 'Leave', 'The engine ends at once. Running steps go on, and the next engine adopts them.'],
  ['kill', 'Kill', 'Running steps are stopped. What they did since their last commit is kept, what they were doing is not.'],
];

/** @param {{close: (how?: string) => void}} props */
const Stop = ({ close }) => {
  const [how, setHow] = useState('finish');
  const [sure, setSure] = useState(false);
  return h('form', {
    class: 'dialog-form',
    onSubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      if (how === 'kill' && !sure) setSure(true);
      else close(how);
    },
  },
  h('h2', null, 'Stop the engine?'),
  h('fieldset', { class: 'choices' }, h('legend', { class: 'unseen' }, 'What becomes of the running steps'),
    ways.map(([value, label, says]) => h('label', { key: value, class: 'choice' },
      h('input', {
        type: 'radio', name: 'how', value, checked: how === value,
        onChange: () => {
          setHow(value);
          setSure(false);
        },
      }),
      h('span', null, h('b', null, label), h('span', { class: 'dim' }, ` ${says}`))))),
  sure && h('p', { class: 'wrong', role: 'alert' }, 'Running steps are killed. Press once more to do it.'),
  h('div', { class: 'dialog-acts' },
    h(Copy, { line: how === 'finish' ? 'crew stop' : `crew stop --${how}` }),
    h('button', { type: 'button', onClick: () => close(undefined) }, 'Cancel'),
    h('button', { type: 'submit', class: `main ${how === 'kill' ? 'danger' : ''}` }, sure ? 'Kill the steps and stop' : 'Stop')));
};

/** Ask, and stop. */
export const askStop = async () => {
  const how = await ask('Stop the engine', close => h(Stop, { close }));
  if (how) command({ command: 'stop', running: how }, 'engine');
};

