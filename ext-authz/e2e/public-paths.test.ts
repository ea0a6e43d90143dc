import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { chancesOf } from '#controlplane/compile/testing/seeded-pick.ts';
import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';
import { denying, scriptedKit } from '../testing/scripted-kit.ts';
import { type GuardedEnvoy, startGuarded } from './guarded-envoy.ts';

/** Envoy as it is compiled, and the same where the service is asked about every path. */
let envoy: GuardedEnvoy;
let asking: GuardedEnvoy;
let upstream: Server;

before(async () => {
  upstream = createServer(({ rawHeaders, url }, response) =>
    response.end(JSON.stringify([url, ...rawHeaders])),
  );
  await new Promise<void>(resolve => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  const yaml = resources(`127.0.0.1:${port}`);
  const kit = scriptedKit({ 'default/tokens': denying(418) });
  [envoy, asking] = await Promise.all([
    startGuarded(yaml, kit),
    startGuarded(yaml, kit, undefined, withoutPublicRoutes),
  ]);
});

after(async () => {
  await Promise.all([envoy.stop(), asking.stop()]);
  await new Promise(resolve => upstream.close(resolve));
});

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

function resources(service: string): string {
  const filters = 'filters: [{name: tokens}]';
  return [
    document('Module', 'gateway', '{config: {escaped_slashes: keep}}'),
    document(
      'Filter',
      'tokens',
      "{JWT: {jwksURI: 'https://idp.example.com/keys', injectRequestHeaders: [{name: X-User, value: a}]}}",
    ),
    document(
      'FilterPolicy',
      'site',
      `{rules: [{host: site.test, path: /admin/open/*}, {host: site.test, path: /admin/*, ${filters}}, {path: '*.secret', ${filters}}, {path: /me%3ain, ${filters}}]}`,
    ),
    document('Mapping', 'site', `{host: site.test, prefix: /, rewrite: '', service: '${service}'}`),
    document('Mapping', 'pub', `{prefix: /pub/, rewrite: '', service: '${service}'}`),
    document(
      'Mapping',
      'open',
      `{host: site.test, prefix: /admin/open/, rewrite: '', service: '${service}', add_request_headers: {x-open: a}}`,
    ),
  ].join('');
}

/** Takes away each route that has a part of its own for what lies outside all rules. */
function withoutPublicRoutes(bootstrap: JsonObject): JsonObject {
  let removed = 0;
  const walk = (json: Json): Json => {
    if (Array.isArray(json)) return json.filter(each => !isPublic(each)).map(walk);
    return isJsonObject(json)
      ? Object.fromEntries(Object.entries(json).map(([key, value]) => [key, walk(value as Json)]))
      : json;
  };
  const isPublic = (json: Json) => {
    if (!isJsonObject(json) || !('route' in json)) return false;
    const found = JSON.stringify(json.typed_per_filter_config ?? {}).includes('"disabled":true');
    removed += found ? 1 : 0;
    return found;
  };
  const changed = walk(bootstrap) as JsonObject;
  assert.ok(removed >= 3);
  return changed;
}

const PATHS = [
  ...['/', '/a', '/pub/', '/pub/a', '/pub/x.secret', '/pub/a?b=/admin/', '/pub', '/pub/..;/admin/'],
  ...[
    '/admin',
    '/admin/',
    '/admin/a',
    '/admin/open/',
    '/admin/open/a',
    '/admin/open/../a',
    '/ADMIN/',
  ],
  ...[
    '/admin/open/..;/a',
    '/admin/open/%2e%2e/a',
    '/admin/open/%2e%2e;/a',
    '/admin/open/a%2f..%2f..%2fb',
  ],
  ...[
    '//admin/a',
    '/x//..//admin/a',
    '/x/..;/admin/a',
    '/x/%2e%2e;/admin/a',
    '/;/admin/a',
    '/admin;x/a',
  ],
  ...[
    '/%61dmin/a',
    '/adm%69n/a',
    '/admin%2fa',
    '/admin%2Fa',
    '/x\\..\\admin\\a',
    '/x/..%5cadmin/a',
    '/pub/%5c',
  ],
  ...[
    '/me:in',
    '/me%3Ain',
    '/me%3ain?x',
    '/x.secret',
    '/x.s%65cret',
    '/x.secret;a',
    '/x%2Esecret',
    '/x.secret/',
  ],
  ...[
    '/.gateway/oauth2/',
    '/.gateway/oauth2/logout',
    '/.gateway//oauth2/x',
    '/pub/../.gateway/oauth2/a',
  ],
  ...[
    '/a?x#/admin/',
    '/a%23b',
    '/caf%C3%A9',
    '/a*b',
    '/a|b',
    '/%zz',
    '/a%00',
    '/pub/%2e',
    '/pub/;a=b',
    '/a%20b',
  ],
];
const HOSTS = [
  'site.test',
  'site.test:8080',
  'SITE.test',
  'site.test.',
  'other.test',
  'a_b',
  'x.site.test',
];
const FIELDS: readonly (readonly [string, string | string[]])[] = [
  ['cookie', 'a=1'],
  ['cookie', 'a=1; gateway_session.tokens.default=abc; b=2'],
  ['cookie', ['a=1', '__Host-gateway_pending.x.y=1; b=2']],
  ['cookie', 'gateway_session.x=1'],
  ['cookie', 'gateway_xsrf.x.y=1; Gateway_Session.x=1'],
  ['cookie', 'a=caf\u00e9; gateway_session.x=1'],
  ['cookie', ''],
  ['x-gateway-username', 'root'],
  ['X-Gateway-Client-Secret', ''],
  ['X-GATEWAY-PASSWORD', ['a', 'b']],
  ['authorization', 'Bearer x'],
  ['x-user', 'root'],
  ['x-Name', ['J\u00fcrgen', 'b']],
  ['x-forwarded-for', '192.0.2.9'],
  ['x-envoy-auth-partial-body', 'true'],
  ['content-type', 'application/grpc'],
];

type Got = { readonly status: number; readonly body: unknown };

async function got(from: GuardedEnvoy, path: string, asked: object): Promise<Got> {
  const { body, status } = await from.ask(path, asked);
  if (!body.startsWith('[')) return { status, body: body.replace(/"request_id":"[^"]*"/, '') };
  const [url, ...fields] = JSON.parse(body) as string[];
  const at = fields.indexOf('x-request-id');
  return { status, body: [url, ...fields.toSpliced(at, 2)] };
}

async function checksOf({ service }: GuardedEnvoy): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text();
  const counts = text.matchAll(/^gateway_ext_authz_checks_total\{[^}]*\} (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

test('with and without a call an upstream gets the same bytes, and clients the same answers', async () => {
  const { chance, pick } = chancesOf(7);
  const seen = { passed: 0, answered: 0 };
  const all = PATHS.flatMap(path => HOSTS.map(host => ({ path, host })));
  for (const { host, path } of all) {
    const fields = chance(0.5) ? [pick(FIELDS), pick(FIELDS)] : [];
    const asked = {
      host,
      method: pick(['GET', 'PUT', 'OPTIONS']),
      headers: Object.fromEntries(fields),
    };
    const [own, wanted] = await Promise.all([got(envoy, path, asked), got(asking, path, asked)]);
    assert.deepEqual(own, wanted, `${path} ${JSON.stringify(asked)}`);
    seen[own.status === 200 ? 'passed' : 'answered'] += 1;
  }
  assert.ok(Math.min(seen.passed, seen.answered) > 80, JSON.stringify(seen));
  const [few, most] = [await checksOf(envoy), await checksOf(asking)];
  assert.ok(few < most - 30, `${few} and ${most} checks`);
});

const NO_CALLS = [
  '/',
  '/a?b=/admin/',
  '/pub/a',
  '/admin/open/a',
  '/admin',
  '/ADMIN/x',
  '/x.secret/',
];

test('no call is made for a path outside every rule', async () => {
  const before = await checksOf(envoy);
  for (const path of NO_CALLS)
    assert.equal((await envoy.ask(path, { host: 'site.test' })).status, 200, path);
  assert.equal(await checksOf(envoy), before);
});

test('a cookie of the gateway is taken away by a call', async () => {
  const before = await checksOf(envoy);
  const headers = { cookie: 'gateway_session.a.b=1' };
  const { body } = await envoy.ask('/', { host: 'site.test', headers });
  assert.doesNotMatch(body, /gateway_session/);
  assert.equal(await checksOf(envoy), before + 1);
});
