import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type CompiledEnvoy, startCompiled } from '#controlplane/compile/e2e/compiled-envoy.ts';
import { startEchoServer } from '#controlplane/compile/e2e/echo-server.ts';
import { toYaml } from '../document.ts';
import { importObjects } from '../import-objects.ts';
import { readObjects } from '../source-object.ts';
import { check } from '../testing/golden-cases.ts';

type Services = Readonly<
  Record<'web' | 'api' | 'next', Awaited<ReturnType<typeof startEchoServer>>>
>;

function ingress(
  name: string,
  annotations: Readonly<Record<string, string>>,
  rules: string,
): string {
  const written = Object.entries({ 'service-upstream': 'true', ...annotations }).map(
    ([key, value]) => `    nginx.ingress.kubernetes.io/${key}: ${JSON.stringify(value)}\n`,
  );
  return `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: ${name}
  annotations:
${written.join('')}spec:
  rules:
${rules}---
`;
}

function rule(host: string, ...paths: readonly string[]): string {
  return `  - { host: ${host}, http: { paths: [${paths.join()}] } }\n`;
}

/** The service is on this machine, and its port tells it apart. */
function path(path: string, pathType: string, address: string): string {
  const port = address.split(':')[1];
  return `{ path: '${path}', pathType: ${pathType}, backend: { service: { name: localhost, port: { number: ${port} } } } }`;
}

function ingresses({ api, next, web }: Services): string {
  const all = path('/', 'Prefix', web.address);
  return [
    ingress(
      'shop',
      {},
      rule(
        'shop.test',
        all,
        path('/cart', 'Prefix', api.address),
        path('/exact', 'Exact', api.address),
        path('/img', 'ImplementationSpecific', api.address),
      ),
    ),
    ingress(
      'rewritten',
      { 'rewrite-target': '/v2/$2' },
      rule('api.test', path('/api(/|$)(.*)', 'ImplementationSpecific', api.address)),
    ),
    ingress('stable', {}, rule('canary.test', all)),
    ingress(
      'next',
      {
        canary: 'true',
        'canary-by-header': 'X-Next',
        'canary-by-cookie': 'next',
        'canary-weight': '0',
      },
      rule('canary.test', path('/', 'Prefix', next.address)),
    ),
    ingress('every', {}, rule('every.test', all)),
    ingress(
      'every-next',
      {
        canary: 'true',
        'canary-by-header': 'X-Next',
        'canary-by-cookie': 'next',
        'canary-weight': '100',
      },
      rule('every.test', path('/', 'Prefix', next.address)),
    ),
    ingress('private', { 'auth-url': 'http://auth/check' }, rule('private.test', all)),
    ingress('beside', {}, rule('private.test', path('/open', 'Exact', web.address))),
    ingress('moved', { 'permanent-redirect': 'https://www.test/new' }, rule('moved.test', all)),
    ingress('wide', {}, rule("'*.test'", path('/cart/long/path', 'Prefix', next.address))),
  ].join('');
}

/** Who answers: a service by name, or a status. */
type Case = readonly [what: string, host: string, path: string, headers: object, who: string];

const CASES: readonly Case[] = [
  ['the shortest prefix', 'shop.test', '/', {}, 'web /'],
  ['a segment', 'shop.test', '/cart', {}, 'api /cart'],
  ['below a segment', 'shop.test', '/cart/1?a=b', {}, 'api /cart/1?a=b'],
  ['no part of a segment', 'shop.test', '/carts', {}, 'web /carts'],
  ['an exact path', 'shop.test', '/exact', {}, 'api /exact'],
  ['more than an exact path', 'shop.test', '/exact/', {}, 'web /exact/'],
  ['a part of a segment as nginx has it', 'shop.test', '/images', {}, 'web /images'],
  ['the beginning of a segment as nginx has it', 'shop.test', '/img2', {}, 'api /img2'],
  ['a longer path of a wider host', 'shop.test', '/cart/long/path', {}, 'api /cart/long/path'],
  ['a path of a wider host alone', 'other.test', '/cart/long/path', {}, 'next /cart/long/path'],
  ['a name that no Ingress has', 'shop.invalid', '/', {}, '404'],
  ['a group of the path', 'api.test', '/api/items/7?q=1', {}, 'api /v2/items/7?q=1'],
  ['another letter case', 'api.test', '/API/Items', {}, 'api /v2/Items'],
  ['an empty group', 'api.test', '/api', {}, 'api /v2/'],
  ['a path that the expression does not match', 'api.test', '/apis', {}, '404'],
  ['no canary', 'canary.test', '/', {}, 'web /'],
  ['a canary by header', 'canary.test', '/', { 'x-next': 'always' }, 'next /'],
  ['another value of the header', 'canary.test', '/', { 'x-next': 'yes' }, 'web /'],
  ['a canary by cookie', 'canary.test', '/', { cookie: 'a=b; next=always; c=d' }, 'next /'],
  ['a cookie whose name ends alike', 'canary.test', '/', { cookie: 'a-next=always' }, 'web /'],
  ['a canary by weight', 'every.test', '/', {}, 'next /'],
  ['never by header', 'every.test', '/', { 'x-next': 'never' }, 'web /'],
  ['never by cookie', 'every.test', '/', { cookie: 'next=never' }, 'web /'],
  [
    'the header before the cookie',
    'every.test',
    '/',
    { 'x-next': 'never', cookie: 'next=always' },
    'web /',
  ],
  ['what a service of its own protects', 'private.test', '/', {}, '500'],
  ['what another Ingress has beside it', 'private.test', '/open', {}, 'web /open'],
  ['a redirect', 'moved.test', '/old', {}, '301'],
];

describe('an Ingress that was imported is served by Envoy', () => {
  let services: Services;
  let envoy: CompiledEnvoy;

  before(async () => {
    const [web, api, next] = await Promise.all(
      ['web', 'api', 'next'].map(name => startEchoServer(name)),
    );
    assert.ok(web && api && next);
    services = { web, api, next };
    const objects = readObjects('shop.yaml', ingresses(services));
    const { documents } = importObjects(objects, { ingressClass: 'nginx', to: 'mappings', check });
    envoy = await startCompiled(toYaml(documents));
  });

  after(async () => {
    await envoy?.stop();
    await Promise.all(Object.values(services).map(service => service.close()));
  });

  for (const [what, host, asked, headers, who] of CASES)
    test(`${what}: ${host}${asked} ${JSON.stringify(headers)} is answered by ${who}`, async () => {
      const { body, status } = await envoy.ask(asked, { host, headers: { ...headers } });
      if (status !== 200) return assert.equal(String(status), who);
      const echo = JSON.parse(body);
      assert.equal(`${echo.server} ${echo.path}`, who);
    });

  test('what a client claims of itself reaches no service', async () => {
    const names = ['proxy', 'x-forwarded-for', 'x-forwarded-scheme', 'x-real-ip', 'x-scheme'];
    const claimed = Object.fromEntries(names.map(name => [name, '192.0.2.1']));
    const { headers } = await envoy.echo('/', { host: 'shop.test', headers: claimed });
    assert.deepEqual(
      names.map(name => headers[name]),
      [undefined, '127.0.0.1', 'http', '127.0.0.1', 'http'],
    );
  });
});
