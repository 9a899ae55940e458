// Ages and moments. An age stands still while what is shown is stale.
import { Fragment, h, useComputed, useSignal } from '../h.js';
import { now } from '../store.js';
import { moment, span, whole } from '../format.js';

/**
 * How long ago something began.
 * @param {{since: string | null | undefined, class?: string}} props
 */
export const Age = ({ since, ...rest }) =>
  (since ? h('time', { dateTime: since, title: whole(since), ...rest }, h(Since, { since })) : null);

/**
 * The words alone: a component of its own, so that a tick draws nothing else.
 * @param {{since: string}} props
 */
const Since = ({ since }) => {
  const at = useSignal(since);
  at.value = since;
  return h(Fragment, null, useComputed(() => span(now.value - Date.parse(at.value))));
};

/**
 * How long until something.
 * @param {{until: string, class?: string}} props
 */
export const Until = ({ until, ...rest }) =>
  h('time', { dateTime: until, title: whole(until), ...rest }, span(Date.parse(until) - now.value));

/**
 * A moment in local time.
 * @param {{at: string | null | undefined, class?: string}} props
 */
export const Moment = ({ at, ...rest }) =>
  (at ? h('time', { dateTime: at, title: whole(at), ...rest }, moment(at)) : null);
