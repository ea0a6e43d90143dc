import type { FilterContext } from '#ext-authz/chain/filter-runner.ts';
import type { FilterDecision, GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import { soon } from '#ext-authz/testing/soon.ts';

/** A check with time enough and no inner chain. */
export const CONTEXT: FilterContext = {
  signal: soon,
  runInner: async () => undefined,
};

/** Returns the headers that an outcome sets. Throws for an answer. */
export function setBy(outcome: FilterDecision): { readonly [name: string]: string } {
  if (outcome.kind === 'answer')
    throw new Error(`answered ${outcome.answer.status} ${outcome.answer.body}`);
  return Object.fromEntries(outcome.change.set);
}

/** Returns the answer that an outcome is. Throws when it lets the request pass. */
export function answerOf(outcome: FilterDecision): GatewayAnswer {
  if (outcome.kind === 'allow') throw new Error('the request was let pass');
  return outcome.answer;
}

export function fieldOf(answer: GatewayAnswer, name: string): string | undefined {
  return answer.headers.find(([other]) => other === name)?.[1];
}
