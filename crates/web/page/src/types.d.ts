// The documents that the server sends, as docs/json.md has them, and the page's own types.

import type { ComponentChildren, VNode } from 'preact';

export type Children = ComponentChildren;
export type Node = VNode<any>;

/** A moment in UTC: RFC 3339. */
export type Moment = string;

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cost_micro_usd: number;
  estimated_micro_usd: number;
}

export interface Standing { sign: string; symbol: string; word: string; why: string | null }

export interface Failure { class: string; message: string; until: Moment | null }

export interface Commitment { id: number; by: string; says: string; run: string | null; state: string }

export interface PullRequest { number: number; url: string; head: string; says: string | null; look_at: Moment | null }

export interface Ticket {
  id: string;
  title: string;
  type: string;
  priority: number;
  deps: string[];
  state: string;
  since: Moment;
  agent: string | null;
  labels: string[];
  file_changed_at: Moment | null;
  why_not: string | null;
  refusal: ({ why: string } & Record<string, unknown>) | null;
  file_change: string | null;
  failing: string[];
  commitments: Commitment[];
  pull_request: PullRequest | null;
  standing: Standing;
  cost_micro_usd: number;
  step: number | null;
  max_steps: number | null;
  tags: string[];
  attempt: number | null;
  /** Whether it may be given to an idle agent now, out of turn. */
  assignable: boolean;
  /** The mark of the ticket as it is, which an act on it names. */
  seen: string;
}

/** A ticket that is over, as the archive lists it. */
export interface Over {
  id: string;
  title: string;
  word: string;
  symbol: string;
  at: Moment | null;
  agent: string | null;
  commit: string | null;
  usage: Usage;
}

export interface Act {
  id?: string;
  verb: string;
  typed: string | null;
  by_hand: string | null;
  wants_text: boolean;
  lets_pass?: string | null;
}

export interface Item {
  id: string;
  kind: string;
  urgency: 'everyone' | 'word' | 'parked';
  ticket: string | null;
  agent: string | null;
  title: string;
  since: Moment | null;
  why: string;
  printed: string | null;
  until: Moment | null;
  acts: Act[];
  question?: string | null;
}

export interface Agent {
  name: string;
  role: string;
  state: string;
  symbol: string;
  ticket: string | null;
  title: string | null;
  attempt: number | null;
  step: number;
  running: boolean;
  run: string | null;
  session: string | null;
  session_state: string | null;
  session_number: number | null;
  mode: string | null;
  since: Moment | null;
  assigned_at: Moment | null;
  waits_for: string | null;
  waits_until: Moment | null;
  setting_up: { run: string; command: string; since: Moment | null } | null;
  activity: { what: string; since: Moment | null } | null;
  quiet: { since: Moment; says: string } | null;
  progress: { text: string; at: Moment } | null;
  failing: string[];
  errors: number;
  failure: Failure | null;
  usage: Usage;
  totals: { spawned_at: Moment | null; last_step_at: Moment | null; steps: number; landed: number; usage: Usage };
  says: string | null;
  state_in_mode: string | null;
  max_steps?: number | null;
}

export interface TrainEntry {
  place: number | null;
  ticket: string;
  title: string;
  agent: string;
  state: string;
  what: string | null;
  since: Moment;
  on: string | null;
  commit: string | null;
  trial: string | null;
  slot: number | null;
  uncoupled: string | null;
  uncoupled_at: Moment | null;
}

export interface Landed {
  ticket: string;
  title: string;
  agent: string | null;
  commit: string;
  at: Moment;
  seq: number;
  steps: number;
  usage: Usage;
}

export interface Counts {
  open: number; ready: number; in_progress: number; verifying: number;
  held: number; landed: number; ended: number; epics: number;
}

export interface Pause { says: string; until: Moment; spent_micro_usd: number; limit_micro_usd: number }

export interface Paused {
  harness: string; class: string; message: string; until: Moment | null; since: Moment; ticket: string;
}

export interface State {
  seq: number;
  at: Moment | null;
  engine: { pid: number | null; host: string; since: Moment | null; stopped: boolean; dead: boolean; words: string } | null;
  trouble: { says: string; line: string } | null;
  stopping: string | null;
  counts: Counts;
  count_words: string[];
  obstacles: string[];
  pause: Pause | null;
  paused: Paused[];
  rejected_settings: string | null;
  problems: string[];
  usage: Usage;
  paid_today: number;
  paid_in_all: number;
  budget_per_day: number | null;
  landed_today: number;
  landings_by_hour: number[];
}

export interface Repository { name: string; target: string; path: string }

export interface Asked {
  id: string; request: string; state: 'pending' | 'accepted' | 'refused'; message: string | null; at: Moment;
  hint?: string | null; by?: string;
}

export interface Kinds {
  repository: Repository;
  state: State;
  agent: Agent;
  ticket: Ticket;
  item: Item;
  train: TrainEntry;
  landed: Landed;
  order: string[] | { keys: string[] };
  asked: Asked;
}

export interface Doc { kind: string; key: string; doc: any }

export interface View { cut: string; docs: Doc[] }

export interface Event {
  seq: number; at: Moment; stream: string; version: number; kind: string; cause: string; says: string;
  state: string; event: unknown; effects?: { says: string; effect: unknown }[];
}

export interface CostLine {
  ticket: string | null; title: string | null; attempt: number | null; agent: string | null; day: string | null;
  step: number | null; run: string | null; seq: number | null; at: Moment | null; failure: string | null;
  steps: number; failed: number; usage: Usage;
}

export interface Cost {
  by: string; lines: CostLine[]; total: { steps: number; failed: number; usage: Usage }; running: number;
}

export interface Work {
  ticket: string; title: string; attempt: number; since: Moment; until: Moment | null; came_to: string;
  commit: string | null; steps: number; usage: Usage; summary: string | null;
  git: { subjects: string[]; files: string[]; changed: number } | null;
}

export interface Related { id: string; title: string; word: string; symbol: string }

export interface Run { run: string; title: string; kind: 'step' | 'check' | 'review' | 'set_up'; since: Moment | null }

/** Why a ticket stands as it does, and what helps: `crew explain ID --json`. */
export interface Explanation {
  ticket: string; title: string; state: string; since: Moment | null; engine: boolean; says: string;
  remedies: { says: string; lines: string[] }[];
  file_change: string | null; waits_for: string | null; waits_until: Moment | null; answer: string | null;
  messages: string[]; unusable: string[]; changed_after: string[]; failure: Failure | null; failing: string[];
  commitments: Commitment[]; review: string | null; pull_request: PullRequest | null;
  landed: {
    commit: string; agent: string; proof: string; attempt: number | null; since: Moment | null; until: Moment | null;
    steps: number | null; usage: Usage | null;
  } | null;
  kept: { place: string; command: string; says: string }[];
  printed: string | null; printed_in: string | null;
}

export interface TicketPage {
  ticket: Ticket; text: string | null; deps: Related[]; dependants: Related[]; works: Work[]; runs: Run[]; cost: Cost;
  explanation: Explanation;
}

export interface Device {
  id: string; name: string; scope: 'act' | 'look'; paired_at?: Moment; last_used?: Moment | null; this?: boolean;
}

export interface ProblemBody {
  type: string; title: string; status: number; detail?: string; hint?: string | null; now?: unknown;
}

/** How the page stands with the server. */
export interface Live {
  state: 'connecting' | 'live' | 'reconnecting';
  /** When the state began, in ms of this browser's clock. */
  since: number;
  /** The last moment at which what is shown was known to be true, in ms of this browser's clock; 0: never. */
  asOf: number;
  /** How often a connection has failed since it was last live. */
  tries: number;
}

/** A key that does something on the page that is shown. */
export interface Binding {
  key: string;
  label: string;
  run: () => void;
  /** Words that say why it cannot be done now. */
  inert?: string | null;
}
