/**
 * One supervised process as a pure state machine. The shell around it says what happened, and does
 * what the machine answers.
 *
 * - starting: ready → ready
 * - ready: 30 s → running
 * - starting, ready and running: exited → backoff, drain → draining, stop → stopping
 * - backoff: timer → starting
 * - draining and stopping: exited → stopped
 *
 * A process that cannot be run at all is failed, because no retry would help.
 */
export type Phase =
  | 'starting'
  | 'ready'
  | 'running'
  | 'backoff'
  | 'draining'
  | 'stopping'
  | 'stopped'
  | 'failed';

export type ChildState = {
  readonly phase: Phase;
  /** How often it ended by itself since it last ran for long. */
  readonly failures: number;
};

/**
 * `unspawnable` means that there is no such executable. `timer` means that the phase has lasted for
 * its phaseMs. `kill` ends it at once.
 */
export type ChildEvent = 'ready' | 'exited' | 'unspawnable' | 'timer' | 'drain' | 'stop' | 'kill';

export type Effect = 'spawn' | 'SIGTERM' | 'SIGKILL';

export type Step = { readonly state: ChildState; readonly effect?: Effect };

/**
 * A process that is up for this time, in ms, has recovered. Its next failure counts as the first
 * one.
 */
const RECOVERED_MS = 30_000;

/** How long a process may take to end after SIGTERM by default, in ms, before SIGKILL. */
const STOP_MS = 3_000;

const FIRST_BACKOFF_MS = 200;
const LAST_BACKOFF_MS = 10_000;

/** How a child begins: with a spawn. */
export const BEGIN: Step = { state: { phase: 'starting', failures: 0 }, effect: 'spawn' };

/** Returns whether a process in this state can be signalled. */
export function isAlive(state: ChildState): boolean {
  return !['backoff', 'stopped', 'failed'].includes(state.phase);
}

/**
 * Returns after how many ms in this state the event `timer` is due. A process may take `stopMs` to
 * end after SIGTERM.
 * @returns undefined when it is never due
 */
export function phaseMs(state: ChildState, stopMs = STOP_MS): number | undefined {
  if (state.phase === 'ready') return RECOVERED_MS;
  if (state.phase === 'stopping') return stopMs;
  if (state.phase === 'backoff')
    return Math.min(FIRST_BACKOFF_MS * 2 ** (state.failures - 1), LAST_BACKOFF_MS);
  return undefined;
}

/**
 * Returns the state after an event, and what is to be done. An event that means nothing in a state
 * leaves it as it is.
 */
export function step(state: ChildState, event: ChildEvent): Step {
  if (event === 'kill' && isAlive(state))
    return { state: { ...state, phase: 'stopping' }, effect: 'SIGKILL' };
  switch (state.phase) {
    case 'starting':
    case 'ready':
    case 'running':
      return stepUp(state, event);
    case 'draining':
      return stepDraining(state, event);
    case 'stopping':
      return stepStopping(state, event);
    case 'backoff':
      return stepBackoff(state, event);
    default:
      return { state };
  }
}

function stepUp(state: ChildState, event: ChildEvent): Step {
  switch (event) {
    case 'ready':
      return { state: state.phase === 'starting' ? { ...state, phase: 'ready' } : state };
    case 'timer':
      return { state: state.phase === 'ready' ? { phase: 'running', failures: 0 } : state };
    case 'exited':
      return { state: { phase: 'backoff', failures: state.failures + 1 } };
    case 'unspawnable':
      return { state: { ...state, phase: 'failed' } };
    case 'drain':
      return { state: { ...state, phase: 'draining' } };
    default:
      return { state: { ...state, phase: 'stopping' }, effect: 'SIGTERM' };
  }
}

function stepDraining(state: ChildState, event: ChildEvent): Step {
  if (event === 'exited') return { state: { ...state, phase: 'stopped' } };
  if (event === 'stop') return { state: { ...state, phase: 'stopping' }, effect: 'SIGTERM' };
  return { state };
}

function stepStopping(state: ChildState, event: ChildEvent): Step {
  if (event === 'exited' || event === 'unspawnable')
    return { state: { ...state, phase: 'stopped' } };
  return event === 'timer' ? { state, effect: 'SIGKILL' } : { state };
}

function stepBackoff(state: ChildState, event: ChildEvent): Step {
  if (event === 'timer') return { state: { ...state, phase: 'starting' }, effect: 'spawn' };
  if (event === 'drain' || event === 'stop' || event === 'kill')
    return { state: { ...state, phase: 'stopped' } };
  return { state };
}
