import type { RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { ServiceAnswer } from '#controlplane/orders/order-answers.ts';
import { isJsonObject } from '#protos/json.ts';
import type { ACTIONS, Action, OrderGiver } from './actions.ts';
import type { DrainFacts } from './drain-doubt.ts';
import { visitorIn } from './visitor.ts';

/** What the page gets of an action that was done. */
export type Acted = { readonly answers: readonly ServiceAnswer[] };

/** What the page gets of one that must be confirmed once more: `confirmed` in the next request. */
export type Doubted = { readonly confirm: string };

export type ActParts = {
  readonly facts: DrainFacts;
  readonly orders: OrderGiver;
  readonly log: Logger;
  readonly inTurn: InTurn;
};

/** Runs one after the other. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export function takeTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return work => {
    const mine = last.then(work, work);
    last = mine.catch(() => {});
    return mine;
  };
}

/** Does what a visitor asks, if that one may. It is logged with who asked, done or not. */
export function act(
  action: string,
  read: (typeof ACTIONS)[string],
  parts: ActParts,
): RequestHandler {
  return async ({ body }, response) => {
    const { mayAct, name: actor } = visitorIn(response);
    if (!mayAct) {
      parts.log.warn({ actor, action }, 'the console did nothing, since its visitor may not act');
      response.status(403).json({ error: 'you may look, but not act (CONSOLE_OPERATORS)' });
      return;
    }
    try {
      const asked = isJsonObject(body) ? body : {};
      const log = parts.log.child({ actor, action });
      await answer(response, read(asked), { ...parts, log }, asked.confirmed === true);
    } catch (error) {
      response.status(400).json({ error: error instanceof Error ? error.message : String(error) });
    }
  };
}

async function answer(
  response: Response,
  action: Action,
  { facts, inTurn, log, orders }: ActParts,
  isConfirmed: boolean,
): Promise<void> {
  // Two drains at once would each count on the instance that the other takes away.
  const ordered = await inTurn(async () => {
    const doubt = await action.doubt?.(facts);
    if (doubt !== undefined && !isConfirmed) return { doubt };
    await action.share?.(orders);
    const answers = action.run(orders);
    log.info({ ...action.logged, ...(doubt && { doubt }) }, 'the console acts');
    return { answers };
  });
  if (ordered.answers === undefined) {
    response.status(409).json({ confirm: ordered.doubt } satisfies Doubted);
    return;
  }
  const answers = await ordered.answers;
  const isDone = answers.every(({ outcome }) => outcome === 'done');
  log[isDone ? 'info' : 'warn']({ answers }, 'the service has answered the console');
  response.json({ answers } satisfies Acted);
}
