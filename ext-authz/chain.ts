import { changeFault } from './check-change.ts';
import { type Fault, faultAnswer, faultOf, WordedFault } from './fault.ts';
import type { FilterContext, RunnableFilter } from './filter-runner.ts';
import { HeaderChanges } from './header-changes.ts';
import type { HttpRequest } from './http-request.ts';
import type { Answer, Outcome } from './outcome.ts';
import type { Rule, RuleItem } from './rule.ts';

/** What a chain needs besides rule and request. */
export type ChainParts = {
  /** The Filters in force, by `<namespace>/<name>`. */
  readonly filters: ReadonlyMap<string, RunnableFilter>;
  signal(): AbortSignal;
  /** Hears what a filter did. `error` is there when it failed by no fault of the client's; it may not be shown to the client. */
  ran(filter: string, what: Ran): void;
};

export type Ran =
  | { readonly kind: 'allow' }
  | { readonly kind: 'answer'; readonly status: number }
  | { readonly kind: 'failed'; readonly fault: Fault; readonly error: unknown };

/** What a chain came to. `filter` is the one that answered. */
export type ChainResult =
  | { readonly kind: 'answer'; readonly answer: Answer; readonly filter: string }
  | {
      readonly kind: 'allow';
      readonly changes: HeaderChanges;
      /** A JWT filter has allowed the client's own `Authorization`. */
      readonly authorizationChecked: boolean;
    };

/**
 * Runs the filters of a rule in order; all of them are in force. `request` has no header that one of them may inject (`withoutInjected`). A filter that
 * throws has answered, which `onDeny` may continue as any answer. Source: decisions, "Policy and chain".
 */
export async function runChain(
  { items }: Rule,
  request: HttpRequest,
  parts: ChainParts,
): Promise<ChainResult> {
  const run: Run = { ...parts, authorizationChecked: false };
  const result = await runItems(items, request, run, true);
  if (result.kind === 'answer') return result;
  return { kind: 'allow', changes: result.changes, authorizationChecked: run.authorizationChecked };
}

/** One request's way through a rule, its inner chains included. */
type Run = ChainParts & { authorizationChecked: boolean };

type ItemsResult =
  | { readonly kind: 'answer'; readonly answer: Answer; readonly filter: string }
  | { readonly kind: 'allow'; readonly changes: HeaderChanges; readonly allowed: boolean };

/** `own`: the `Authorization` of `request` is what the client sent. */
async function runItems(
  items: readonly RuleItem[],
  request: HttpRequest,
  run: Run,
  own: boolean,
): Promise<ItemsResult> {
  const changes = new HeaderChanges();
  let seen = request;
  let allowed = false;
  for (const item of items) {
    if (!item.applies(seen.headers)) continue;
    const filter = filterOf(item, run);
    const ownNow = own && changes.get('authorization') === undefined;
    const outcome = await runFilter(item, filter, seen, run, ownNow);
    if (outcome.kind === 'answer') {
      if (item.onDeny === 'break') return { ...outcome, filter: item.filter };
      continue;
    }
    allowed = true;
    if (filter.type === 'JWT' && ownNow) run.authorizationChecked = true;
    changes.add(outcome.change, filter.type, filter.injects);
    if (item.onAllow === 'break') break;
    seen = { ...request, headers: changes.seenOn(request.headers) };
  }
  return { kind: 'allow', changes, allowed };
}

async function runFilter(
  item: RuleItem,
  filter: RunnableFilter,
  request: HttpRequest,
  run: Run,
  own: boolean,
): Promise<Outcome> {
  const context: FilterContext = {
    signal: () => run.signal(),
    runInner: (items, inner) => runInner(items, inner, run, own),
  };
  try {
    const outcome = await filter.run(request, item, context);
    if (outcome.kind === 'answer') {
      run.ran(item.filter, { kind: 'answer', status: outcome.answer.status });
      return outcome;
    }
    const fault = changeFault(outcome.change);
    if (fault !== undefined) throw new Error(fault);
    run.ran(item.filter, { kind: 'allow' });
    return outcome;
  } catch (error) {
    const fault = faultOf(error);
    const worded = error instanceof WordedFault ? error : undefined;
    run.ran(item.filter, { kind: 'failed', fault, error: worded?.cause ?? error });
    return { kind: 'answer', answer: worded?.answer ?? faultAnswer(request, fault) };
  }
}

async function runInner(
  items: readonly RuleItem[],
  request: HttpRequest,
  run: Run,
  own: boolean,
): Promise<Outcome | undefined> {
  const result = await runItems(items, request, run, own);
  if (result.kind === 'answer') return { kind: 'answer', answer: result.answer };
  return result.allowed ? { kind: 'allow', change: result.changes.all() } : undefined;
}

function filterOf(item: RuleItem, { filters }: ChainParts): RunnableFilter {
  const filter = filters.get(item.filter);
  if (filter === undefined) throw new Error(`Filter ${item.filter} is not in force`);
  return filter;
}
