import type { Change, FilterDecision, GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { Rule, RuleItem } from '#ext-authz/policy/rule.ts';
import { type Eventually, whenThere } from '#process/eventually.ts';
import { changeFault } from './check-change.ts';
import { errorAnswer, type Fault, faultOf, WordedFault } from './fault.ts';
import type { FilterContext, RunnableFilter } from './filter-runner.ts';
import { HeaderChanges } from './header-changes.ts';

/** What a chain needs besides rule and request. */
export type ChainParts = {
  /** The Filters in force, by `<namespace>/<name>`. */
  readonly filters: ReadonlyMap<string, RunnableFilter>;
  signal(): AbortSignal;
  /**
   * Is told what a filter did. `error` is present when it failed by no fault of the client. The
   * client must not see it.
   */
  ran(filter: string, what: Ran): void;
};

export type Ran =
  | { readonly kind: 'allow' }
  | { readonly kind: 'answer'; readonly status: number }
  | { readonly kind: 'failed'; readonly fault: Fault; readonly error: unknown };

/** The result of a chain. `filter` is the one that answered. */
export type ChainResult =
  | { readonly kind: 'answer'; readonly answer: GatewayAnswer; readonly filter: string }
  | {
      readonly kind: 'allow';
      readonly changes: HeaderChanges;
      /** A JWT filter has allowed the client's own `Authorization`. */
      readonly authorizationChecked: boolean;
    };

/**
 * Runs the filters of a rule in order. All of them are in force. `request` has no header that one
 * of them may inject (`withoutInjected`). A filter that throws has answered, and `onDeny` may
 * continue after it as after any answer. See docs/adr/0011-ext-authz.md.
 */
export function runChain(
  { items }: Rule,
  request: HttpRequest,
  parts: ChainParts,
): Eventually<ChainResult> {
  const run: Run = { ...parts, authorizationChecked: false };
  return whenThere(runItems(items, request, run, true), result =>
    result.kind === 'answer'
      ? result
      : { kind: 'allow', changes: result.changes, authorizationChecked: run.authorizationChecked },
  );
}

/** One request's way through a rule, its inner chains included. */
type Run = ChainParts & { authorizationChecked: boolean };

type ItemsResult =
  | { readonly kind: 'answer'; readonly answer: GatewayAnswer; readonly filter: string }
  | { readonly kind: 'allow'; readonly changes: HeaderChanges; readonly allowed: boolean };

/** How far the items of a list have run. */
type Way = {
  readonly items: readonly RuleItem[];
  readonly request: HttpRequest;
  readonly run: Run;
  /** Whether the `Authorization` of `request` is what the client sent. */
  readonly own: boolean;
  readonly changes: HeaderChanges;
  /** The request as the next filter sees it. */
  seen: HttpRequest;
  allowed: boolean;
};

function runItems(
  items: readonly RuleItem[],
  request: HttpRequest,
  run: Run,
  own: boolean,
): Eventually<ItemsResult> {
  const way: Way = {
    items,
    request,
    run,
    own,
    changes: new HeaderChanges(),
    seen: request,
    allowed: false,
  };
  return runFrom(0, way);
}

function runFrom(first: number, way: Way): Eventually<ItemsResult> {
  for (let index = first; index < way.items.length; index += 1) {
    const item = way.items[index];
    if (item === undefined || !item.applies(way.seen)) continue;
    const filter = filterOf(item, way.run);
    const own = way.own && way.changes.get('authorization') === undefined;
    const outcome = runFilter(item, filter, way, own);
    const settle = (there: FilterDecision) => settleItem(index, filter, own, there, way);
    if (outcome instanceof Promise)
      return outcome.then(settle).then(result => result ?? runFrom(index + 1, way));
    const result = settle(outcome);
    if (result !== undefined) return result;
  }
  return { kind: 'allow', changes: way.changes, allowed: way.allowed };
}

/**
 * Returns what the whole list comes to by an item's outcome.
 * @returns undefined when the next item runs
 */
function settleItem(
  index: number,
  filter: RunnableFilter,
  own: boolean,
  outcome: FilterDecision,
  way: Way,
): ItemsResult | undefined {
  const { changes, items, request, run } = way;
  const item = items[index];
  if (outcome.kind === 'answer')
    return item?.onDeny === 'break' ? { ...outcome, filter: item.filter } : undefined;
  way.allowed = true;
  if (filter.type === 'JWT' && own) run.authorizationChecked = true;
  changes.add(outcome.change, filter.type, filter.injects);
  if (item?.onAllow === 'break' || index === items.length - 1)
    return { kind: 'allow', changes, allowed: true };
  way.seen = { ...request, headers: changes.seenOn(request.headers) };
  return undefined;
}

function runFilter(
  item: RuleItem,
  filter: RunnableFilter,
  { run, seen }: Way,
  own: boolean,
): Eventually<FilterDecision> {
  const context: FilterContext = {
    signal: () => run.signal(),
    runInner: (items, inner) => runInner(items, inner, run, own),
  };
  const fail = (error: unknown) => failed(item, seen, run, error);
  const hear = (outcome: FilterDecision) => heard(item, run, outcome);
  try {
    const outcome = filter.run(seen, item, context);
    return outcome instanceof Promise ? outcome.then(hear).catch(fail) : hear(outcome);
  } catch (error) {
    return fail(error);
  }
}

function heard({ filter }: RuleItem, run: Run, outcome: FilterDecision): FilterDecision {
  if (outcome.kind === 'answer') {
    run.ran(filter, { kind: 'answer', status: outcome.answer.status });
    return outcome;
  }
  checkChange(outcome.change);
  run.ran(filter, { kind: 'allow' });
  return outcome;
}

function checkChange(change: Change): void {
  if (change.memory?.isFaultless === true) return;
  const fault = changeFault(change);
  if (fault !== undefined) throw new Error(fault);
  if (change.memory !== undefined) change.memory.isFaultless = true;
}

function failed(
  { filter }: RuleItem,
  request: HttpRequest,
  run: Run,
  error: unknown,
): FilterDecision {
  const fault = faultOf(error);
  const worded = error instanceof WordedFault ? error : undefined;
  run.ran(filter, { kind: 'failed', fault, error: worded?.cause ?? error });
  return { kind: 'answer', answer: worded?.answer ?? errorAnswer(request, error) };
}

function runInner(
  items: readonly RuleItem[],
  request: HttpRequest,
  run: Run,
  own: boolean,
): Eventually<FilterDecision | undefined> {
  return whenThere(runItems(items, request, run, own), result => {
    if (result.kind === 'answer') return { kind: 'answer', answer: result.answer };
    return result.allowed ? { kind: 'allow', change: result.changes.all() } : undefined;
  });
}

function filterOf(item: RuleItem, { filters }: ChainParts): RunnableFilter {
  const filter = filters.get(item.filter);
  if (filter === undefined) throw new Error(`Filter ${item.filter} is not in force`);
  return filter;
}
