// The renderer: the one place that names the vendored library.
export { h, Fragment, render } from '../vendor/preact.js';
export {
  useState, useEffect, useLayoutEffect, useMemo, useRef, useId,
} from '../vendor/hooks.js';
export {
  signal, computed, effect, batch, useSignal, useComputed,
} from '../vendor/signals.js';
