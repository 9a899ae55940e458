// Server-sent events, read from an answer of fetch: an EventSource cannot carry the token.

/** @typedef {{event: string, data: string, id: string}} Message */

/** The server says something every 5 s at least: what is silent for longer than this, in ms, is gone. */
export const SILENCE = 8_000;

/** Reads messages out of text that comes in pieces. @returns {(text: string) => Message[]} */
export const parser = () => {
  let rest = '';
  /** @type {Message} */
  let message = { event: '', data: '', id: '' };
  return text => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    /** @type {Message[]} */
    const whole = [];
    for (const line of lines.map(it => it.replace(/\r$/, ''))) {
      if (line === '') {
        if (message.data !== '' || message.event !== '') whole.push(message);
        message = { event: '', data: '', id: '' };
      } else if (line.startsWith('event:')) message.event = line.slice(6).trim();
      else if (line.startsWith('id:')) message.id = line.slice(3).trim();
      else if (line.startsWith('data:')) {
        const data = line.slice(5).replace(/^ /, '');
        message.data = message.data === '' ? data : `${message.data}\n${data}`;
      }
    }
    return whole;
  };
};

/**
 * The messages of an answer, until it ends. A server that is silent for too long is a line that was lost.
 * @param {Response} response
 * @param {{take: (message: Message) => void, heard?: () => void}} to
 *   `heard` is called whenever anything came, a comment too.
 */
export const messages = async (response, { take, heard }) => {
  if (!response.body) return;
  const parse = parser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  heard?.();
  for (;;) {
    let silent = false;
    const timer = setTimeout(() => {
      silent = true;
      reader.cancel();
    }, SILENCE);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (silent) throw new TypeError('The server is silent.');
    if (done) return;
    heard?.();
    for (const message of parse(value)) take(message);
  }
};
