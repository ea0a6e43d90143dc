import assert from 'node:assert/strict';
import { type Ran, runChain } from '#ext-authz/chain/chain.ts';
import type { FilterRunner, FilterType, RunnableFilter } from '#ext-authz/chain/filter-runner.ts';
import { finalChange, ruleHeaders, withoutInjected } from '#ext-authz/chain/final-change.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { RuleItem } from '#ext-authz/policy/rule.ts';
import { requestWith } from './requests.ts';
import { ruleOf } from './rules.ts';

export type Filters = Readonly<Record<string, RunnableFilter>>;

export const jwt = (run: FilterRunner, ...injects: readonly string[]): RunnableFilter =>
  filter('JWT', run, injects);
export const oauth2 = (run: FilterRunner, ...injects: readonly string[]): RunnableFilter =>
  filter('OAuth2', run, injects);

function filter(type: FilterType, run: FilterRunner, injects: readonly string[]): RunnableFilter {
  return { type, injects: new Set(injects), run };
}

/** Runs a request through. Returns a status, or what the upstream gets of its headers. */
export async function pass(
  filters: Filters,
  items: readonly RuleItem[],
  request: HttpRequest = requestWith(),
) {
  const byName = new Map(
    Object.entries(filters).map(([name, value]) => [`default/${name}`, value]),
  );
  const ran: [filter: string, what: Ran][] = [];
  const headers = ruleHeaders([...byName.values()]);
  const parts = {
    filters: byName,
    signal: () => new AbortController().signal,
    ran: (name: string, what: Ran) => void ran.push([name, what]),
  };
  const result = await runChain(ruleOf(...items), withoutInjected(request, headers), parts);
  const names = ran.map(([name]) => name.replace('default/', ''));
  if (result.kind === 'answer')
    return { status: result.answer.status, by: result.filter, ran: names, answer: result.answer };
  const { set, remove, responseHeaders } = finalChange(request, headers, result);
  const upstream = new Map(request.headers);
  for (const name of remove) upstream.delete(name);
  for (const [name, value] of set) upstream.set(name, [value]);
  assert.deepEqual(
    [...set.keys()].filter(name => remove.has(name)),
    [],
  );
  return { upstream: Object.fromEntries(upstream), responseHeaders, ran: names };
}
