import type { KeyObject } from 'node:crypto';
import type { Logger } from 'pino';
import { openResourceServer } from '#ext-authz/access-token/open-resource-server.ts';
import type { FilterRunner, RunnableFilter } from '#ext-authz/chain/filter-runner.ts';
import { type JwtFilter, openJwtFilter } from '#ext-authz/jwt/open-jwt-filter.ts';
import { gatewayEndpoint } from '#ext-authz/oauth2/login/gateway-endpoint.ts';
import { loginRunner } from '#ext-authz/oauth2/login/login-runner.ts';
import { openLoginFilter } from '#ext-authz/oauth2/login/open-login-filter.ts';
import type { LoginFilter } from '#ext-authz/oauth2/session/login-filter.ts';
import { clientCredentialsFilter } from '#ext-authz/oauth2/tokens/client-credentials.ts';
import type { OAuth2Definition } from '#ext-authz/oauth2/tokens/credential-grant.ts';
import { passwordFilter } from '#ext-authz/oauth2/tokens/password.ts';
import {
  RefusedCredentials,
  type RefusedCredentialsParts,
} from '#ext-authz/oauth2/tokens/refused-credentials.ts';
import type {
  Definitions,
  FilterDefinition,
  OAuth2Settings,
} from '#ext-authz/policy/filter-settings.ts';
import { openProvider } from '#ext-authz/provider/open-provider.ts';
import type { Provider } from '#ext-authz/provider/provider.ts';
import { ProviderError } from '#ext-authz/provider/provider-error.ts';
import type { ProviderAspect } from '#ext-authz/provider/provider-listener.ts';
import type { Endpoint } from '#ext-authz/provider/provider-metadata.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import type { RandomBytes } from '#ext-authz/store/sealed-record.ts';
import type { StoreFault } from '#ext-authz/store/store-fault.ts';
import type { Report } from '#process/reporter.ts';
import type { Traces } from '#process/traces/traces.ts';
import type { FilterKit } from './filter-kit.ts';
import { FilterWatch, type Look } from './filter-watch.ts';
import { reportedFindings } from './reported-findings.ts';

export type FilterKitParts = Pick<RefusedCredentialsParts, 'gate' | 'peers'> & {
  readonly store: RecordStore;
  readonly storeKey: KeyObject;
  readonly log: Logger;
  /** ms since the epoch */
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  /** Returns a text that is never repeated. */
  readonly id: () => string;
  /** Returns a signal that aborts after `ms`. */
  readonly timeout: (ms: number) => AbortSignal;
  /** Resolves after `ms`, or when the signal aborts. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Undefined when findings are not reported. */
  readonly findings?: FindingsParts;
  /** Undefined when calls of providers are not traced. */
  readonly traces?: Traces | undefined;
};

export type FindingsParts = {
  /** Whether providers are asked before a request needs them. */
  readonly looks: boolean;
  /** Hears what is wrong with Filters in force, or with what they name. */
  readonly report: Report;
  /** Returns why the store cannot be used now. Undefined when it can. */
  readonly storeFault?: () => StoreFault | undefined;
};

/**
 * The provider's time in a check, which has 4 s. The gateway answers 504 when the provider is late.
 */
const PROVIDER_MS = 3_500;
/** The control plane waits for 3 s. */
const KEY_SETS_MS = 2_000;
/** How long what a removed Filter was asked for may still take to end. */
const CLOSE_AFTER_MS = 10_000;
/** Providers are looked at one after the other, so many ms apart. */
const LOOK_EVERY_MS = 20;

/** A Filter in force. */
type Opened = {
  readonly version: string;
  readonly runnable: RunnableFilter;
  readonly jwt?: JwtFilter;
  readonly login?: LoginFilter;
  readonly watch: FilterWatch;
  readonly look: Look;
  readonly issuer: string;
  readonly knownKeySet: Provider['knownKeySet'];
  readonly close: () => Promise<void>;
};

/**
 * Opens the OAuth2 and JWT filters, each with its own provider. Sessions and tokens are in the
 * store.
 */
export function openFilterKit(parts: FilterKitParts): FilterKit {
  const refusals = new RefusedCredentials(parts);
  let opened: ReadonlyMap<string, Opened> = new Map();
  let defined: Definitions = new Map();
  const { findings } = parts;
  const report = () =>
    findings?.report(() => reportedFindings(defined, opened, findings.storeFault?.()));
  const failed = (err: unknown) => parts.log.error({ err }, 'a provider cannot be asked');
  const context: Context = {
    ...parts,
    watch: () => new FilterWatch({ ...parts, changed: report, failed }),
    refusals,
    deadline: () => parts.timeout(PROVIDER_MS),
    jwtFilter: name => opened.get(name)?.jwt,
  };
  return {
    use: definitions => {
      const before = opened;
      opened = openAll(definitions, before, context);
      defined = definitions;
      const kept = new Set(opened.values());
      const gone = [...before.values()].filter(filter => !kept.has(filter));
      for (const { watch } of gone) watch.end();
      if (findings !== undefined) beginWatching(opened, new Set(before.values()), findings);
      report();
      if (gone.length > 0)
        void parts.pause(CLOSE_AFTER_MS).then(() => gone.map(filter => filter.close()));
      return new Map([...opened].map(([name, { runnable }]) => [name, runnable]));
    },
    endSessions: async (filter, user) => opened.get(filter)?.login?.sessions.removeUser(user),
    endpoint: (request, { ruleAt, signal }) => {
      const logins = [...opened.values()].flatMap(({ login }) => login ?? []);
      return gatewayEndpoint(request, logins, signal, ruleAt);
    },
    sessionLists: () =>
      new Map(
        [...opened].flatMap(([name, { login }]) =>
          login === undefined ? [] : [[name, login.sessions.list]],
        ),
      ),
    providers: () => [...opened].map(([name, filter]) => providerState(name, filter)),
    keySets: async () => {
      const signal = parts.timeout(KEY_SETS_MS);
      const sets = [...opened].map(([name, { jwt }]) => jwt && keySetOf(name, jwt, signal));
      return (await Promise.all(sets)).flatMap(set => set ?? []);
    },
  };
}

/** As FilterKeySet in knowledge.proto. */
async function keySetOf(filter: string, jwt: JwtFilter, signal: AbortSignal) {
  try {
    const found = await jwt.signingKeys(signal);
    return found && { filter, jwks_uri: found.jwksURI, keys: found.keys };
  } catch (error) {
    if (error instanceof ProviderError) return undefined;
    throw error;
  }
}

/** As ProviderState in knowledge.proto. */
function providerState(filter: string, { issuer, knownKeySet, watch: { lastHeard } }: Opened) {
  const { aspect, at = 0, error } = lastHeard ?? {};
  const answer = error?.message ?? (aspect === undefined ? '' : ANSWERS[aspect]);
  const keys = knownKeySet()?.listed ?? [];
  return { filter, issuer, keys, answered_ms: at, answer, failed: error !== undefined };
}

const ANSWERS: Readonly<Record<ProviderAspect, string>> = {
  discovery: 'its discovery document',
  endpoints: 'its discovery document',
  keys: 'its keys',
  client: 'it accepted the client',
  tokens: 'its token endpoint',
  idTokens: 'its ID token',
  accessTokens: 'its access token',
  userinfo: 'its userinfo endpoint',
};

type Context = FilterKitParts & {
  readonly refusals: RefusedCredentials;
  readonly deadline: () => AbortSignal;
  readonly watch: () => FilterWatch;
  readonly jwtFilter: (name: string) => JwtFilter | undefined;
};

function beginWatching(
  opened: ReadonlyMap<string, Opened>,
  known: ReadonlySet<Opened>,
  { looks }: FindingsParts,
): void {
  const news = [...opened.values()].filter(filter => !known.has(filter));
  for (const [index, { look, watch }] of news.entries())
    watch.begin(look, looks ? index * LOOK_EVERY_MS : undefined);
}

/**
 * Opens the Filters that changed, and keeps the others as they are. A Filter that cannot be opened
 * is left out, which closes what refers to it.
 */
function openAll(
  definitions: Definitions,
  before: ReadonlyMap<string, Opened>,
  context: Context,
): ReadonlyMap<string, Opened> {
  const opened = new Map<string, Opened>();
  for (const [name, definition] of definitions) {
    const known = before.get(name);
    const filter =
      known?.version === definition.version ? known : tryOpen(name, definition, context);
    if (filter !== undefined) opened.set(name, filter);
  }
  return opened;
}

function tryOpen(name: string, definition: FilterDefinition, context: Context): Opened | undefined {
  try {
    return definition.type === 'JWT'
      ? openJwt(definition, context)
      : openOAuth2(definition, context);
  } catch (err) {
    context.log.error({ filter: name, err }, 'a Filter cannot be opened');
    return undefined;
  }
}

function openJwt(
  definition: Extract<FilterDefinition, { readonly type: 'JWT' }>,
  context: Context,
): Opened {
  const watch = context.watch();
  const jwt = openJwtFilter(definition, { ...context, heard: error => watch.heard('keys', error) });
  const { close, knownKeySet, look } = jwt;
  const { settings, version } = definition;
  const issuer = settings.issuer ?? settings.jwksURI ?? '';
  return { version, issuer, runnable: jwt, jwt, watch, look, knownKeySet, close };
}

const NEEDED: Readonly<Record<OAuth2Settings['grantType'], readonly Endpoint[]>> = {
  AuthorizationCode: ['authorization_endpoint', 'token_endpoint', 'jwks_uri'],
  Password: ['token_endpoint'],
  ClientCredentials: ['token_endpoint'],
};

function openOAuth2(definition: OAuth2Definition, context: Context): Opened {
  const { realm, settings, version } = definition;
  const watch = context.watch();
  const provider = openProvider(settings, context, watch.heard);
  const resourceServer = openResourceServer({ realm, settings }, { ...context, provider });
  const { close, knownKeySet } = provider;
  const injects = new Set(settings.injectRequestHeaders.map(({ name }) => name));
  const runnable = (run: FilterRunner): RunnableFilter => ({ type: 'OAuth2', injects, run });
  const parts = { ...context, provider, resourceServer, heard: watch.heard };
  const look: Look = signal => provider.look(NEEDED[settings.grantType], signal);
  const issuer = settings.authorizationURL;
  const opened = { version, issuer, watch, look, knownKeySet, close };
  if (settings.grantType === 'ClientCredentials')
    return { ...opened, runnable: runnable(clientCredentialsFilter(definition, parts)) };
  if (settings.grantType === 'Password')
    return { ...opened, runnable: runnable(passwordFilter(definition, parts)) };
  const login = openLoginFilter({ ...parts, realm, settings, sources: context });
  return { ...opened, runnable: runnable(loginRunner(login)), login };
}
