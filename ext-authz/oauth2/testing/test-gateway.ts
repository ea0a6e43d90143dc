import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { WordedFault } from '#ext-authz/chain/fault.ts';
import type { FilterContext } from '#ext-authz/chain/filter-runner.ts';
import type { FilterDecision } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { gatewayEndpoint } from '#ext-authz/oauth2/login/gateway-endpoint.ts';
import { loginRunner } from '#ext-authz/oauth2/login/login-runner.ts';
import {
  type LoginFilterParts,
  openLoginFilter,
} from '#ext-authz/oauth2/login/open-login-filter.ts';
import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import type { ResourceServer, TokenVerdict } from '#ext-authz/oauth2/tokens/resource-server.ts';
import type { RuleArguments, RuleItem } from '#ext-authz/policy/rule.ts';
import { openProvider } from '#ext-authz/provider/open-provider.ts';
import type { ProviderSettings } from '#ext-authz/provider/settings.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { openSqliteRecordStore } from '#ext-authz/store/sqlite-record-store.ts';
import { readAll } from '#ext-authz/store/testing/sqlite-stores.ts';
import { providerSettings } from '#ext-authz/testing/provider-settings.ts';
import { ruleItem, ruleOf } from '#ext-authz/testing/rules.ts';
import { tokenExcess } from '#ext-authz/wire/header-limits.ts';
import type { ProtectedOrigin } from '#resources/kinds/filter/filter-oauth2-origins.ts';
import { parseOrigin } from '#resources/words/origin.ts';
import { parseOriginPattern } from '#resources/words/origin-pattern.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import { oauth2Settings } from './oauth2-settings.ts';

export type TestOrigin = {
  readonly origin: string;
  readonly internalOrigin?: string;
  readonly includeSubdomains?: boolean;
};

export type TestGatewayOptions = {
  readonly issuer: string;
  readonly origins?: readonly (string | TestOrigin)[];
  readonly realms?: readonly string[];
  readonly replicas?: number;
  readonly settings?: Partial<LoginFilterParts['settings']>;
  readonly provider?: Partial<ProviderSettings>;
  /** One for each replica. Default: one SQLite file. */
  readonly stores?: readonly RecordStore[];
  /** How long the provider may take. */
  readonly deadlineMs?: number;
};

/** Replicas of the filter on one store, with a clock of their own that begins now. */
export type TestGateway = {
  /** By replica, then by realm. */
  readonly filters: readonly (readonly LoginFilter[])[];
  readonly store: RecordStore;
  readonly now: () => number;
  /** Returns all that a thief of the store finds. */
  readonly dump: () => Promise<Buffer>;
  readonly advance: (ms: number) => void;
  /** What becomes of access tokens, from now on. */
  readonly judge: (
    verdict: (accessToken: string, scope: readonly string[]) => TokenVerdict,
  ) => void;
  /**
   * Tries the gateway's own paths first, then the filter of `realm`. Throws what the filter throws.
   */
  readonly check: (request: HttpRequest, rule?: TestRule) => Promise<FilterDecision>;
};

export type TestRule = Partial<RuleArguments> & {
  readonly replica?: number;
  readonly realm?: string;
  readonly runInner?: FilterContext['runInner'];
  readonly signal?: AbortSignal;
};

export const REALM = 'site.default';

export async function openTestGateway(
  t: TestContext,
  options: TestGatewayOptions,
): Promise<TestGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-login-'));
  const closing: (() => Promise<void>)[] = [];
  t.after(async () => {
    await Promise.all(closing.map(close => close()));
    await rm(folder, { recursive: true, force: true });
  });
  let offset = 0;
  let verdict: (accessToken: string, scope: readonly string[]) => TokenVerdict = () => ({
    kind: 'valid',
  });
  const now = () => Date.now() + offset;
  const resourceServer: ResourceServer = {
    validate: ({ accessToken }, scope) => verdict(accessToken, scope),
    change: ({ accessToken }) => ({
      set: new Map([['authorization', `Bearer ${accessToken}`]]),
      remove: new Set(),
      responseHeaders: [],
    }),
    roomFault: ({ accessToken }) =>
      tokenExcess({ set: new Map([['authorization', `Bearer ${accessToken}`]]) }),
  };
  const storeKey = createSecretKey(randomBytes(32));
  const file = join(folder, 'records.sqlite');
  const openStore = () => openSqliteRecordStore(file, { now, uptime: () => performance.now() });
  const open = async (given: RecordStore | undefined) => {
    const store = given ?? (await openStore());
    const provider = openProvider(providerSettings(options.issuer, options.provider), {
      now,
      id: randomUUID,
    });
    closing.push(provider.close, () => store.close());
    const deadline = () => AbortSignal.timeout(options.deadlineMs ?? 20_000);
    const sources = { now, randomBytes, pause: patiently, deadline };
    const settings = settingsOf(options);
    const realms = options.realms ?? [REALM];
    return realms.map(realm =>
      openLoginFilter({ realm, settings, provider, resourceServer, store, storeKey, sources }),
    );
  };
  const filters: LoginFilter[][] = [];
  const { replicas = options.stores?.length ?? 1, stores = [] } = options;
  for (let replica = 0; replica < replicas; replica += 1) filters.push(await open(stores[replica]));
  const [[first] = []] = filters;
  if (first === undefined) throw new Error('no replica');
  return {
    ...{ filters, now, store: first.store },
    dump: () => readAll(folder),
    advance: ms => {
      offset += ms;
    },
    judge: anew => {
      verdict = anew;
    },
    check: (request, rule = {}) => check(filters[rule.replica ?? 0] ?? [], request, rule),
  };
}

async function check(
  filters: readonly LoginFilter[],
  request: HttpRequest,
  rule: TestRule,
): Promise<FilterDecision> {
  const signal = rule.signal ?? AbortSignal.timeout(20_000);
  const ruleAt = () => ruleOf(itemOf(rule));
  const answer = await gatewayEndpoint(request, filters, () => signal, ruleAt).catch(
    (error: unknown) => {
      throw error instanceof WordedFault ? error.cause : error;
    },
  );
  if (answer !== undefined) return { kind: 'answer', answer };
  const filter = filters.find(({ realm }) => realm === (rule.realm ?? REALM));
  if (filter === undefined) throw new Error('no such realm');
  const context = { signal: () => signal, runInner: rule.runInner ?? (async () => undefined) };
  return loginRunner(filter)(request, itemOf(rule), context);
}

function itemOf({ insteadOfRedirect, sameSite, scope }: TestRule): RuleItem {
  return ruleItem('site', { arguments: { scope, insteadOfRedirect, sameSite } });
}

function settingsOf({
  origins = ['https://a.test'],
  settings,
}: TestGatewayOptions): LoginFilterParts['settings'] {
  return {
    ...oauth2Settings('https://idp.test', { grantType: 'AuthorizationCode' }),
    protectedOrigins: origins.map(toProtected),
    ...settings,
  };
}

export function toProtected(written: string | TestOrigin): ProtectedOrigin {
  const {
    includeSubdomains = false,
    origin,
    internalOrigin = origin,
  } = typeof written === 'string' ? { origin: written } : written;
  const { scheme, host } = must(parseOriginPattern(internalOrigin));
  return {
    origin: must(parseOrigin(origin)),
    internalOrigin: { scheme, host },
    includeSubdomains,
  };
}

function must<T>(parsed: Parsed<T>): T {
  if ('error' in parsed) throw new Error(parsed.error);
  return parsed.value;
}

async function patiently(ms: number, signal?: AbortSignal): Promise<void> {
  await pause(ms, undefined, { ...(signal !== undefined && { signal }), ref: true }).catch(
    () => {},
  );
}
