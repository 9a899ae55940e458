// A state: its symbol and its word, with a colour besides.
import { h } from '../h.js';
import { kindOf, symbols, tone, urgencyTone } from '../words.js';
import { Outside } from './outside.js';

/**
 * @param {{sign: string, symbol: string, word: string}} props
 */
export const State = ({ sign, symbol, word }) =>
  h('span', { class: `state ${tone(sign)}` },
    h('span', { class: 'symbol', 'aria-hidden': 'true' }, symbol),
    h('span', { class: 'word' }, h(Outside, { text: word })));

/** The state of an agent. @param {{agent: {state: string, symbol?: string}}} props */
export const AgentState = ({ agent }) =>
  h(State, { sign: agent.state === 'ready' ? 'preparing' : agent.state, symbol: agent.symbol ?? symbols[agent.state] ?? '○', word: agent.state });

/** The standing of a ticket. @param {{standing: import('../types').Standing}} props */
export const Standing = ({ standing }) => h(State, standing);

/** The kind of an item, in the tone of its urgency. @param {{item: import('../types').Item}} props */
export const ItemKind = ({ item }) => {
  const { symbol, words } = kindOf(item.kind);
  return h('span', { class: `state ${urgencyTone(item.urgency)}` },
    h('span', { class: 'symbol', 'aria-hidden': 'true' }, symbol),
    h('span', { class: 'word' }, words));
};
