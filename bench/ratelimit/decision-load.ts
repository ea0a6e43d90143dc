import { DecisionConnection, type MakeCall, type OnAnswer } from './decision-connection.ts';

/** Calls that had no answer, and how long each other took from when it was due, in ms. */
export type Load = { readonly failed: number; readonly times: readonly number[]; readonly ms: number };

/** As often as the clock is looked at to see which calls are due. */
const TICK_MS = 1;
const LONGEST_WAIT_MS = 20_000;

/** `inFlight` calls at a time on each connection, the next as soon as one ends, until `enough` says so of their number. `makeCall` makes what each connection asks. */
export async function askAsFastAsPossible(
  port: number,
  connections: number,
  inFlight: number,
  enough: (answered: number) => boolean,
  makeCall?: () => MakeCall,
): Promise<Load> {
  const { load, onAnswer } = recorder();
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const begun = performance.now();
  let answered = 0;
  const opened: DecisionConnection[] = [];
  for (let n = 0; n < connections; n++) {
    const answer: OnAnswer = (due, isAnswered) => {
      onAnswer(due, isAnswered);
      if (enough(++answered)) return resolve();
      connection.ask([performance.now()]);
    };
    const connection = await DecisionConnection.open(port, answer, makeCall?.());
    opened.push(connection);
  }
  for (const connection of opened) connection.ask(Array(inFlight).fill(performance.now()));
  await over;
  const ms = performance.now() - begun;
  for (const connection of opened) connection.close();
  return { ...load(), ms };
}

/** `perSecond` calls, spread evenly over time and in turn over the connections, whether the earlier ones are answered or not. */
export async function askAtRate(
  port: number,
  connections: number,
  perSecond: number,
  seconds: number,
): Promise<Load> {
  const { load, onAnswer } = recorder();
  const opened = await Promise.all(
    Array.from({ length: connections }, () => DecisionConnection.open(port, onAnswer)),
  );
  const begun = performance.now();
  const all = Math.floor(perSecond * seconds);
  for (let sent = 0; sent < all; await new Promise(resolve => setTimeout(resolve, TICK_MS))) {
    const due = Math.min(all, Math.floor(((performance.now() - begun) / 1_000) * perSecond));
    const dues = new Map<number, number[]>();
    for (; sent < due; sent++) {
      const at = dues.get(sent % connections) ?? [];
      at.push(begun + (sent / perSecond) * 1_000);
      dues.set(sent % connections, at);
    }
    for (const [at, times] of dues) opened[at]?.ask(times);
  }
  const ms = performance.now() - begun;
  while (opened.some(({ inFlight }) => inFlight > 0)) {
    if (performance.now() > begun + ms + LONGEST_WAIT_MS) throw new Error('calls are never answered');
    await new Promise(resolve => setTimeout(resolve, 10));
  }
  for (const connection of opened) connection.close();
  return { ...load(), ms };
}

function recorder(): { onAnswer: OnAnswer; load(): Omit<Load, 'ms'> } {
  const times: number[] = [];
  let failed = 0;
  const onAnswer: OnAnswer = (due, isAnswered) => {
    if (isAnswered) times.push(performance.now() - due);
    else failed++;
  };
  return { onAnswer, load: () => ({ failed, times }) };
}
