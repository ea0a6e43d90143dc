import type { Logger } from 'pino';
import { type ActiveRules, activateRules } from '#ext-authz/chain/active-rules.ts';
import { allowedAnswer } from '#ext-authz/chain/allowed-answer.ts';
import { type Ran, runChain } from '#ext-authz/chain/chain.ts';
import { errorAnswer, faultAnswer, faultOf, WordedFault } from '#ext-authz/chain/fault.ts';
import {
  finalChange,
  hasSettledHeaders,
  unfilteredChange,
  withoutInjected,
} from '#ext-authz/chain/final-change.ts';
import type { FilterKit } from '#ext-authz/filters/filter-kit.ts';
import type { Configuration } from '#ext-authz/filters/filter-set.ts';
import { answerPage } from '#ext-authz/http/answer-page.ts';
import type {
  EncodedResponse,
  GatewayAnswer,
  RuleHeaders,
} from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { Selected } from '#ext-authz/policy/policy.ts';
import type { Rule, RuleAt } from '#ext-authz/policy/rule.ts';
import { parseCheckRequest, rememberedAuthorities } from '#ext-authz/wire/check-request.ts';
import { allowResponse, type CheckResponse, denyResponse } from '#ext-authz/wire/check-response.ts';
import type { CheckMessage } from '#ext-authz/wire/decode-check.ts';
import { excessOf, tooLargePage } from '#ext-authz/wire/header-limits.ts';
import { type Eventually, whenThere } from '#process/eventually.ts';
import type { SpanAttributes, Traces } from '#process/traces/traces.ts';
import { type CheckLog, checkLog } from './check-log.ts';
import type { CheckOutcome, Metrics } from './metrics.ts';

export type CheckerParts = {
  readonly kit: FilterKit;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Milliseconds of a clock that never goes back. */
  uptime(): number;
  after(ms: number, run: () => void): () => void;
  /** Undefined when checks are not traced. */
  readonly traces?: Traces | undefined;
};

/** Envoy waits for 5 s, and this answers before. See docs/adr/0014-session-store.md. */
export const CHECK_MS = 4_000;

/** The gateway's own paths. They come before all rules, and no upstream gets them. */
const GATEWAY_PATHS = '/.gateway/oauth2/';

type Checked = CheckResponse | EncodedResponse;

/** The result of a check, for the log and the metrics. */
type CheckResult =
  | { readonly outcome: 'no_rule' | 'allowed'; readonly response: Checked }
  | {
      readonly outcome: Exclude<CheckOutcome, 'no_rule' | 'allowed' | 'not_ready'>;
      readonly answer: GatewayAnswer;
      readonly rule?: string;
      readonly filter?: string;
    };

/** A check whose filters have yet to run. */
type Running = { readonly run: (signal: () => AbortSignal) => Eventually<CheckResult> };

/** Answers checks by the Filters and FilterPolicies in force, and tells metrics and log of it. */
export class Checker {
  readonly #parts: CheckerParts;
  readonly #log: CheckLog;
  readonly #authorityOf = rememberedAuthorities();
  #rules: ActiveRules | undefined;
  /** The rules that proxies may still go by, as they came. */
  #earlier: ReadonlyMap<readonly Rule[], ActiveRules> = new Map();
  #used: Pick<Configuration, 'definitions' | 'rules'> | undefined;

  constructor(parts: CheckerParts) {
    this.#parts = parts;
    this.#log = checkLog(parts.log);
  }

  /**
   * Returns why no check is answered.
   * @returns undefined when checks are answered
   */
  get notReady(): string | undefined {
    return this.#rules === undefined
      ? 'no filters have come from the control plane yet'
      : undefined;
  }

  /** Puts this configuration in force. */
  use({ definitions, earlier, rules }: Configuration): void {
    const { kit, metrics, log } = this.#parts;
    const runnable = kit.use(definitions);
    const used = this.#used;
    // By the same Filters the rules of before are active already. There may be many of them.
    const known = new Map(used?.definitions === definitions ? this.#earlier : []);
    if (used?.definitions === definitions && this.#rules !== undefined)
      known.set(used.rules, this.#rules);
    const activate = (some: readonly Rule[]) =>
      known.get(some) ?? activateRules(some, definitions, runnable);
    this.#earlier = new Map(earlier.map(each => [each, activate(each)]));
    if (used?.definitions === definitions && used.rules === rules) return;
    this.#used = { definitions, rules };
    const active = activate(rules);
    this.#rules = active;
    const closed = [...active.closed.values()];
    metrics.inForce(active.filters.keys(), rules.length, closed);
    for (const { rule, filter } of closed)
      log.error(
        { rule: rule.id, host: rule.host, path: rule.path, filter },
        `rule ${rule.id} is closed: its Filter ${filter} is missing or rejected`,
      );
    const counts = { filters: active.filters.size, rules: rules.length, closed: closed.length };
    log.info(counts, 'filters are in force');
  }

  /**
   * Answers a check, at once where no filter has to wait. Never throws or rejects. `clientAddress`
   * is Envoy's, when Envoy sends it apart from the message.
   * @returns undefined when there are no rules yet
   */
  check(
    message: CheckMessage,
    clientAddress: string | undefined,
  ): Checked | undefined | Promise<Checked> {
    const { metrics, uptime } = this.#parts;
    const begun = uptime();
    if (this.#rules === undefined) {
      metrics.checked('not_ready', 0);
      return undefined;
    }
    const parsed = parseCheckRequest(message, clientAddress, this.#authorityOf);
    if ('error' in parsed) return this.#malformed(parsed.error);
    const request = parsed.value;
    const way = this.#way(request, this.#rules);
    if (!('run' in way)) return this.#conclude(request, way, begun);
    return whenThere(this.#run(request, way), verdict => this.#conclude(request, verdict, begun));
  }

  #conclude(request: HttpRequest, verdict: CheckResult, begun: number): Checked {
    const { metrics, traces, uptime } = this.#parts;
    metrics.checked(verdict.outcome, (uptime() - begun) / 1000);
    traces?.annotate(spanAttributes(verdict));
    if ('response' in verdict) return verdict.response;
    const { outcome, answer, rule, filter } = verdict;
    this.#log.answered(request, {
      outcome,
      status: answer.status,
      rule,
      filter,
      note: answer.note,
    });
    return denyResponse(request, answer);
  }

  #malformed(reason: string): CheckResponse {
    this.#parts.metrics.checked('malformed', 0);
    this.#parts.log.warn({ reason }, 'a request was malformed');
    const asker = { headers: new Map(), id: '' };
    return denyResponse(
      asker,
      answerPage(asker, { status: 400, message: `Bad request: ${reason}.` }),
    );
  }

  #run(request: HttpRequest, { run }: Running): Eventually<CheckResult> {
    let abort: AbortController | undefined;
    const aborting = () => {
      abort ??= new AbortController();
      return abort;
    };
    try {
      const verdict = run(() => aborting().signal);
      return verdict instanceof Promise
        ? this.#inTime(request, verdict, () => aborting().abort())
        : verdict;
    } catch (error) {
      return this.#failed(request, error);
    }
  }

  /** What goes on after its time may still end, for example a refresh whose result is stored. */
  #inTime(
    request: HttpRequest,
    running: Promise<CheckResult>,
    abort: () => void,
  ): Promise<CheckResult> {
    const { promise, resolve } = Promise.withResolvers<CheckResult>();
    const cancel = this.#parts.after(CHECK_MS, () => {
      resolve({ outcome: 'timeout', answer: faultAnswer(request, 'timeout') });
      abort();
    });
    running
      .catch((error: unknown) => this.#failed(request, error))
      .then(verdict => {
        cancel();
        resolve(verdict);
      });
    return promise;
  }

  #way(request: HttpRequest, rules: ActiveRules): CheckResult | Running {
    if (request.target.startsWith(GATEWAY_PATHS))
      return { run: signal => this.#gatewayPath(request, rules, signal) };
    const way = this.#wayBy(rules, rules.select(request), request);
    if (this.#earlier.size === 0 || request.beforeRoute) return way;
    const now = rules.selectByPath(request);
    return this.#earlier.values().reduce<CheckResult | Running>((next, each) => {
      const before = each.selectByPath(request);
      return isSameRule(before, now) ? next : both(this.#wayBy(each, before, request), next);
    }, way);
  }

  #wayBy(rules: ActiveRules, selected: Selected, request: HttpRequest): CheckResult | Running {
    if ('ambiguous' in selected) return { outcome: 'ambiguous', answer: ambiguousPage(request) };
    const { rule } = selected;
    if (rule === undefined || rule.items.length === 0)
      return { outcome: 'no_rule', response: allowResponse(unfilteredChange(request)) };
    const headers = rules.headers.get(rule);
    if (headers !== undefined)
      return {
        run: signal => this.#filtered(request, rule, { filters: rules.filters, headers }, signal),
      };
    const answer = faultAnswer(request, 'missing_filter');
    return {
      outcome: 'closed',
      answer,
      rule: rule.id,
      filter: rules.closed.get(rule)?.filter ?? '',
    };
  }

  async #gatewayPath(
    request: HttpRequest,
    rules: ActiveRules,
    signal: () => AbortSignal,
  ): Promise<CheckResult> {
    const ruleAt: RuleAt = at => {
      const selected = rules.selectByPath(at);
      return 'rule' in selected ? selected.rule : undefined;
    };
    const answer = await this.#parts.kit.endpoint(request, { ruleAt, signal });
    const missing = { status: 404, message: 'There is no such page here.' };
    return { outcome: 'gateway', answer: answer ?? answerPage(request, missing) };
  }

  #filtered(
    request: HttpRequest,
    rule: Rule,
    { filters, headers }: Pick<ActiveRules, 'filters'> & { readonly headers: RuleHeaders },
    signal: () => AbortSignal,
  ): Eventually<CheckResult> {
    const ran = (filter: string, what: Ran) => this.#ran(request, filter, what);
    const settled = hasSettledHeaders(request, headers);
    const seen = settled ? withoutInjected(request, headers) : request;
    return whenThere(runChain(rule, seen, { filters, signal, ran }), result => {
      if (result.kind === 'answer')
        return { outcome: 'answered', answer: result.answer, rule: rule.id, filter: result.filter };
      const settle = () => finalChange(request, headers, result);
      const { only } = result.changes;
      const change = settled || only === undefined ? settle() : only;
      const excess = excessOf(request, change);
      if (excess !== undefined)
        return {
          outcome: 'answered',
          answer: tooLargePage(request, change, excess),
          rule: rule.id,
        };
      if (change !== only) return { outcome: 'allowed', response: allowResponse(change) };
      const response = allowedAnswer(only, headers, request.headers.get('cookie'), settle);
      return { outcome: 'allowed', response };
    });
  }

  #ran(request: HttpRequest, filter: string, what: Ran): void {
    this.#parts.metrics.ran(filter, what.kind === 'failed' ? what.fault : what.kind);
    if (what.kind === 'failed') this.#log.filterFailed(request, filter, what.fault, what.error);
  }

  #failed(request: HttpRequest, error: unknown): CheckResult {
    const fault = faultOf(error);
    const worded = error instanceof WordedFault ? error : undefined;
    this.#log.checkFailed(request, fault, worded?.cause ?? error, worded?.realm);
    return { outcome: 'failed', answer: worded?.answer ?? errorAnswer(request, error) };
  }
}

function isSameRule(a: Selected, b: Selected): boolean {
  return 'rule' in a && 'rule' in b && a.rule === b.rule;
}

/** Goes the first way, and then the next unless it has no rule. Both must let the request pass. */
function both(first: CheckResult | Running, next: CheckResult | Running): CheckResult | Running {
  if (!('run' in first)) return first.outcome === 'no_rule' ? next : first;
  if (!('run' in next) && next.outcome === 'no_rule') return first;
  const goOn = (signal: () => AbortSignal) => ('run' in next ? next.run(signal) : next);
  return {
    run: signal =>
      whenThere(first.run(signal), result =>
        result.outcome === 'allowed' ? goOn(signal) : result,
      ),
  };
}

function ambiguousPage(request: HttpRequest): GatewayAnswer {
  return answerPage(request, {
    status: 400,
    message: 'Bad request: the path can be read in two ways.',
  });
}

function spanAttributes(verdict: CheckResult): SpanAttributes {
  const told = { 'gateway.outcome': verdict.outcome };
  if ('response' in verdict) return told;
  const { answer, filter, rule } = verdict;
  return {
    ...told,
    'http.response.status_code': answer.status,
    ...(rule === undefined ? {} : { 'gateway.rule': rule }),
    ...(filter === undefined ? {} : { 'gateway.filter': filter }),
  };
}
