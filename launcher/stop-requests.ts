export type StopRequests = {
  /** Resolves when the system is to stop. */
  readonly first: Promise<void>;
  /**
   * Resolves when it is to stop at once, because it was asked again or the process that started it
   * is gone.
   */
  readonly urgent: Promise<void>;
  readonly isStopping: boolean;
  close(): void;
};

/**
 * One Ctrl-C reaches us several times, from the terminal, from npm and from start.cjs. Within this
 * time, in ms, they count as one.
 */
const ONE_REQUEST_MS = 500;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/**
 * Listens for signals, and for the end of the process that started this one, until it is closed.
 */
export function stopRequests(now: () => number): StopRequests {
  const first = Promise.withResolvers<void>();
  const urgent = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const onSignal = () => {
    first.resolve();
    firstAt ??= now();
    if (now() - firstAt > ONE_REQUEST_MS) urgent.resolve();
  };
  const onOrphaned = () => {
    firstAt ??= now();
    first.resolve();
    urgent.resolve();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.on('disconnect', onOrphaned);
  return {
    first: first.promise,
    urgent: urgent.promise,
    get isStopping() {
      return firstAt !== undefined;
    },
    close: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
      process.off('disconnect', onOrphaned);
    },
  };
}
