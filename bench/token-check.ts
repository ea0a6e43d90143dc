/**
 * Measures what the check of a known token costs without gRPC: the JWT filter, the validation of an
 * access token, the headers that it gives, and credentials whose token is cached. Prints one
 * Markdown table, and with `--write` writes the page of results.
 */
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { openResourceServer } from '#ext-authz/access-token/open-resource-server.ts';
import type { FilterRunner } from '#ext-authz/chain/filter-runner.ts';
import { openJwtFilter } from '#ext-authz/jwt/open-jwt-filter.ts';
import { headerTemplates, jwtSettings } from '#ext-authz/jwt/testing/jwt-settings.ts';
import { CONTEXT } from '#ext-authz/jwt/testing/requests.ts';
import { oauth2Settings } from '#ext-authz/oauth2/testing/oauth2-settings.ts';
import { clientCredentialsFilter } from '#ext-authz/oauth2/tokens/client-credentials.ts';
import { RefusedCredentials } from '#ext-authz/oauth2/tokens/refused-credentials.ts';
import { openProvider } from '#ext-authz/provider/open-provider.ts';
import { openSqliteRecordStore } from '#ext-authz/store/sqlite-record-store.ts';
import { startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { itemWith } from '#ext-authz/testing/rules.ts';
import { circumstances, writePage } from './page.ts';
import { toTable } from './table.ts';

const ROUNDS = 5;
const CHECKS = 100_000;
const TOKENS = 1_000;
const CLAIM = headerTemplates([['x-user', '{{ .token.Claims.sub }}']]);
const REQUEST = headerTemplates([['x-agent', '{{ .httpRequestHeader.Get "user-agent" }}']]);

const provider = await startHostileProvider();
const exp = Math.floor(Date.now() / 1_000) + 86_400;
const sign = (n: number) =>
  new SignJWT({ iss: provider.issuer, sub: `user-${n}`, exp, scope: 'openid read', aud: ['api'] })
    .setProtectedHeader({ alg: 'RS256', kid: provider.key.kid })
    .sign(provider.key.privateKey);
const tokens = await Promise.all(Array.from({ length: TOKENS }, (_, n) => sign(n)));
provider.behave('token', () => ({
  body: { access_token: tokens[0], token_type: 'Bearer', expires_in: 86_400 },
}));

const options = { now: Date.now, deadline: () => AbortSignal.timeout(4_000) };
const FIELDS = {
  accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8',
  'accept-encoding': 'gzip, deflate, br',
  'accept-language': 'en',
  'cache-control': 'no-cache',
  cookie: 'a=1; b=2',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)',
  'x-forwarded-for': '10.0.0.1',
  'x-forwarded-proto': 'https',
  'x-request-id': 'b2b7-42',
};

type Check = (n: number) => unknown;

/** Returns the CPU time of one call in µs, in the best of some rounds. */
async function measure(check: Check): Promise<number> {
  for (let n = 0; n < TOKENS; n++) await check(n);
  const costs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const begun = process.cpuUsage();
    for (let at = 0; at < CHECKS; at++) {
      const outcome = check(at % TOKENS);
      if (outcome instanceof Promise) await outcome;
    }
    const { user, system } = process.cpuUsage(begun);
    costs.push((user + system) / CHECKS);
  }
  return Math.min(...costs);
}

const requests = tokens.map(token => requestWith({ ...FIELDS, authorization: `Bearer ${token}` }));
const item = itemWith(['read']);
const run = (filter: FilterRunner) => (n: number) =>
  filter(requests[n] ?? requestWith(), item, CONTEXT);

function jwtFilter(injectRequestHeaders = headerTemplates([])) {
  const settings = jwtSettings(`${provider.issuer}/jwks`, {
    injectRequestHeaders,
    audience: 'api',
  });
  return openJwtFilter({ realm: 'api.default', settings }, options);
}

const filters = [jwtFilter(), jwtFilter(CLAIM), jwtFilter(REQUEST)] as const;
const settings = oauth2Settings(provider.issuer, {
  grantType: 'ClientCredentials',
  injectRequestHeaders: CLAIM,
});
const adapter = openProvider(settings, { now: Date.now, id: randomUUID });
const realm = 'login.default';
const resourceServer = openResourceServer(
  { realm, settings },
  { ...options, provider: adapter, jwtFilter: () => undefined },
);
const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-'));
const clock = { now: Date.now, uptime: () => performance.now() };
const store = await openSqliteRecordStore(join(folder, 'records.sqlite'), {
  ...clock,
  timeoutMs: 4_000,
});
const storeKey = createSecretKey(randomBytes(32));
const refusals = new RefusedCredentials({ store, storeKey, now: Date.now });
const machine = clientCredentialsFilter(
  { name: 'login', namespace: 'default', realm, version: '1', type: 'OAuth2', settings },
  { ...options, provider: adapter, resourceServer, store, storeKey, refusals, randomBytes },
);
const credentials = requestWith({
  ...FIELDS,
  'x-gateway-client-id': 'me',
  'x-gateway-client-secret': 's'.repeat(40),
});
const NO_TOKENS = { accessToken: '', idToken: undefined };
const granted = tokens.map(accessToken => ({ accessToken, idToken: undefined }));

const CASES: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['JWT filter', run(filters[0].run)],
  ['JWT filter, a claim in a header', run(filters[1].run)],
  ['JWT filter, a header of the request in a header', run(filters[2].run)],
  [
    'access token of a session',
    n => resourceServer.validate(granted[n] ?? NO_TOKENS, ['read'], CONTEXT.signal),
  ],
  ['its headers, a claim in one', n => resourceServer.change(granted[n] ?? NO_TOKENS, credentials)],
  ['client credentials, cached, a claim in a header', () => machine(credentials, item, CONTEXT)],
]);

const begun = circumstances();
const costs = new Map<string, string>();
for (const [name, check] of CASES) costs.set(name, (await measure(check)).toFixed(2));
const table = toTable('one check', new Map([['µs of CPU', costs]]));
process.stdout.write(table);
if (process.argv.includes('--write'))
  writePage(
    'token-check',
    `# The check of a known token

${begun} \`node bench/token-check.ts --write\`

Without gRPC, ${TOKENS.toLocaleString('en')} tokens (RS256). CPU time, the best of ${ROUNDS} rounds of
${CHECKS.toLocaleString('en')} checks. The goal is at most 10 µs. What a template that reads
\`.httpRequestHeader\` costs is the spelling of the request's 11 header names.

${table}`,
  );

await Promise.all([...filters.map(filter => filter.close()), adapter.close(), store.close()]);
await rm(folder, { recursive: true, force: true });
await provider.close();
