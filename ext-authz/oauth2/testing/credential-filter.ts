import { createSecretKey, randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { openResourceServer } from '#ext-authz/access-token/open-resource-server.ts';
import type { FilterDecision } from '#ext-authz/http/filter-decision.ts';
import { CONTEXT } from '#ext-authz/jwt/testing/requests.ts';
import { clientCredentialsFilter } from '#ext-authz/oauth2/tokens/client-credentials.ts';
import { passwordFilter } from '#ext-authz/oauth2/tokens/password.ts';
import { RefusedCredentials } from '#ext-authz/oauth2/tokens/refused-credentials.ts';
import type { OAuth2Settings } from '#ext-authz/policy/filter-settings.ts';
import type { RecordStore } from '#ext-authz/store/record-store.ts';
import { openSqliteStores } from '#ext-authz/store/testing/sqlite-stores.ts';
import { openTestProvider } from '#ext-authz/testing/open-test-provider.ts';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { itemWith } from '#ext-authz/testing/rules.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import { oauth2Settings } from './oauth2-settings.ts';

type Headers = { readonly [name: string]: string | readonly string[] };

/** A Filter with credentials in headers, on a store and a clock of its own. */
export type TestCredentialFilter = {
  readonly run: (
    headers: Headers,
    scope?: readonly string[],
    address?: string,
  ) => Promise<FilterDecision>;
  /** The same Filter in another process, on the same store. */
  readonly replica: (changes?: Partial<ReplicaChanges>) => TestCredentialFilter['run'];
  readonly pass: (ms: number) => void;
  readonly dump: () => Promise<Buffer>;
  readonly store: RecordStore;
};

type ReplicaChanges = {
  readonly version: string;
  readonly realm: string;
  readonly store: RecordStore;
  readonly storeKey: Uint8Array;
  readonly deadline: () => AbortSignal;
};

/** Opens one for the provider at `issuer`. Its settings are the defaults except for `changes`. */
export async function openCredentialFilter(
  t: TestContext,
  issuer: string,
  changes: Partial<OAuth2Settings> & Pick<OAuth2Settings, 'grantType'>,
): Promise<TestCredentialFilter> {
  const stores = await openSqliteStores();
  t.after(() => stores.close());
  const provider = openTestProvider(t, { issuer }, changes);
  let time = Date.now();
  const now = () => time;
  const settings = oauth2Settings(issuer, changes);
  const ownKey = randomBytes(32);
  const replica = ({
    deadline = soon,
    realm = 'login.default',
    store = stores.two,
    storeKey: key = ownKey,
    version = 'first',
  }: Partial<ReplicaChanges> = {}) => {
    const storeKey = createSecretKey(key);
    const parts = {
      resourceServer: openResourceServer(
        { realm, settings },
        { provider, jwtFilter: () => undefined, now, deadline },
      ),
      refusals: new RefusedCredentials({ store, storeKey, now }),
      ...{ provider, store, storeKey, now, randomBytes, deadline },
    };
    const definition = {
      name: 'login',
      namespace: 'default',
      type: 'OAuth2' as const,
      ...{ realm, version, settings },
    };
    const open = settings.grantType === 'Password' ? passwordFilter : clientCredentialsFilter;
    const filter = open(definition, parts);
    return async (headers: Headers, scope?: readonly string[], clientAddress = '203.0.113.7') =>
      filter(requestWith(headers, { clientAddress }), itemWith(scope), CONTEXT);
  };
  const pass = (ms: number) => {
    time += ms;
    stores.pass(ms);
    provider.advance(ms);
  };
  return {
    run: replica({ store: stores.one }),
    replica,
    pass,
    dump: stores.dump,
    store: stores.one,
  };
}
