import { DecisionConnection, type MakeCall, type OnEnd } from './decision-connection.ts';

export type Load = {
  /** How long each answered call took, from when it was due, in ms. */
  readonly times: readonly number[];
  /** How many others there were, by the reason. */
  readonly failures: ReadonlyMap<string, number>;
  /** How long the whole took. */
  readonly ms: number;
};

type Target = {
  readonly port: number;
  readonly connections: number;
  /** Returns what makes the calls of a connection. */
  readonly calls: () => MakeCall;
};

type AsFastAsPossible = Target & {
  /** Calls at a time on each connection. */
  readonly atOnce: number;
  /** Tells whether so many answers, or so many ms, are enough. */
  readonly enough: (answered: number, ms: number) => boolean;
};

type AtRate = Target & { readonly perSecond: number; readonly seconds: number };

/** How often the clock is read to see which calls are due, in ms. */
const TICK_MS = 1;
const LONGEST_WAIT_MS = 20_000;
/**
 * More connections at once than a server's backlog (511 in Node) are dropped by the kernel, tried
 * again a second later, or reset [measured].
 */
const OPENED_AT_ONCE = 100;

/**
 * Makes the next call as soon as one ends. Rejects when a call fails, and when nothing is answered
 * for 20 s.
 */
export async function askAsFastAsPossible({
  atOnce,
  enough,
  ...target
}: AsFastAsPossible): Promise<Load> {
  const { load, record } = recorder();
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  let answered = 0;
  let begun = 0;
  let isOver = false;
  const opened = await openAll(target, self => (due, failure) => {
    if (isOver) return;
    record(due, failure);
    if (failure !== undefined) reject(new Error(`a decision has no answer: ${failure}`));
    isOver ||= failure !== undefined || enough(++answered, performance.now() - begun);
    if (isOver) resolve();
    else self().ask([performance.now()]);
  });
  const stopWatching = watch(() => answered, reject);
  begun = performance.now();
  for (const connection of opened) connection.ask(Array(atOnce).fill(performance.now()));
  try {
    await over;
    return load(performance.now() - begun);
  } finally {
    stopWatching();
    for (const connection of opened) connection.close();
  }
}

/**
 * Makes so many calls a second, spread evenly over time and in turn over the connections. It does
 * not wait for earlier answers.
 */
export async function askAtRate({ perSecond, seconds, ...target }: AtRate): Promise<Load> {
  const { load, record } = recorder();
  const opened = await openAll(target, () => record);
  const begun = performance.now();
  try {
    await sendAtRate(opened, begun, perSecond, seconds);
    const ms = performance.now() - begun;
    const pending = () => opened.reduce((sum, connection) => sum + connection.pending, 0);
    while (pending() > 0 && performance.now() < begun + ms + LONGEST_WAIT_MS) await tick(10);
    for (let late = pending(); late > 0; late--) record(begun, 'no answer in time');
    return load(ms);
  } finally {
    for (const connection of opened) connection.close();
  }
}

async function sendAtRate(
  opened: readonly DecisionConnection[],
  begun: number,
  perSecond: number,
  seconds: number,
): Promise<void> {
  const all = Math.floor(perSecond * seconds);
  for (let sent = 0; sent < all; await tick(TICK_MS)) {
    const due = Math.min(all, Math.floor(((performance.now() - begun) / 1_000) * perSecond));
    const dues = new Map<number, number[]>();
    for (; sent < due; sent++) {
      const at = dues.get(sent % opened.length) ?? [];
      at.push(begun + (sent / perSecond) * 1_000);
      dues.set(sent % opened.length, at);
    }
    for (const [at, times] of dues) opened[at]?.ask(times);
  }
}

/** Opens the connections, each with what hears of its calls. */
async function openAll(
  { calls, connections, port }: Target,
  onEnd: (self: () => DecisionConnection) => OnEnd,
): Promise<readonly DecisionConnection[]> {
  const opened: DecisionConnection[] = [];
  const open = async () => {
    const connection = await DecisionConnection.open(
      port,
      calls(),
      onEnd((): DecisionConnection => connection),
    );
    opened.push(connection);
  };
  while (opened.length < connections)
    await Promise.all(
      Array.from({ length: Math.min(OPENED_AT_ONCE, connections - opened.length) }, open),
    );
  return opened;
}

/** Rejects when `answered` stays the same for too long. Returns a function that ends the watch. */
function watch(answered: () => number, reject: (error: Error) => void): () => void {
  let last = -1;
  const timer = setInterval(() => {
    if (answered() === last)
      reject(new Error(`no decision has had an answer for ${LONGEST_WAIT_MS} ms`));
    last = answered();
  }, LONGEST_WAIT_MS);
  return () => clearInterval(timer);
}

function tick(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms));
}

function recorder(): { record: OnEnd; load(ms: number): Load } {
  const times: number[] = [];
  const failures = new Map<string, number>();
  const record: OnEnd = (due, failure) => {
    if (failure === undefined) times.push(performance.now() - due);
    else failures.set(failure, (failures.get(failure) ?? 0) + 1);
  };
  return { record, load: ms => ({ times, failures, ms }) };
}
