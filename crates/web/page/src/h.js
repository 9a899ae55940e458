// The renderer: the one place that names the vendored library.
export { h, Fragment, render, createContext } from '../vendor/preact.js';
export {
  useState, useEffect, useLayoutEffect, useMemo, useRef, useCallback, useContext, useId,
} from '../vendor/hooks.js';
export {
  signal, computed, effect, batch, untracked, useSignal, useComputed, useSignalEffect,
} from '../vendor/signals.js';
