import type { FilterContext } from '#ext-authz/chain/filter-runner.ts';
import type { FilterDecision, GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { RuleItem } from '#ext-authz/policy/rule.ts';

/** A GET with these fields, each by its lower-case name. */
export function requestWith(
  headers: { readonly [name: string]: string | readonly string[] } = {},
  clientAddress = '203.0.113.7',
): HttpRequest {
  const fields = Object.entries(headers).map(([name, value]) => [name, [value].flat()] as const);
  return {
    method: 'GET',
    scheme: 'https',
    authority: 'app.test',
    target: '/path?query',
    headers: new Map(fields),
    body: new Uint8Array(),
    clientAddress,
    id: 'request-1',
  };
}

/** A rule's item with this `scope` argument. */
export function itemWith(scope?: readonly string[]): RuleItem {
  return {
    filter: 'default/filter',
    applies: () => true,
    onDeny: 'break',
    onAllow: 'continue',
    arguments: { scope, insteadOfRedirect: undefined, sameSite: undefined },
  };
}

/** A check with time enough and no inner chain. */
export const CONTEXT: FilterContext = {
  signal: () => AbortSignal.timeout(10_000),
  runInner: async () => undefined,
};

export function soon(): AbortSignal {
  return AbortSignal.timeout(10_000);
}

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
