import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatewayApiOf } from '#controlplane/compile/gateways/gateway-api-of.ts';
import { Memo } from '#controlplane/compile/memo.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { routeView } from './route.ts';
import { routeRows, routeText, sortedRoutes } from './routes.ts';

const TEXT = `
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: all }
spec: { prefix: /, service: web }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: free }
spec: { prefix: /free/, service: web }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: shop }
spec: { prefix: /shop/, service: "https://shop:8443", weight: 90 }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: next }
spec: { prefix: /shop/, service: next, weight: 10, add_request_headers: { Authorization: s3cret } }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: admin }
spec: { prefix: /admin, service: admin }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: probe }
spec: { prefix: /shop/probe, service: probe, bypass_auth: true }
---
apiVersion: gateway.internal/v2
kind: Filter
metadata: { name: login }
spec: { JWT: { jwksURI: "https://login.example.com/keys" } }
---
apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: { name: policy }
spec:
  rules:
    - { path: /shop/open* }
    - { path: /shop/*, filters: [{ name: login }] }
    - { path: /admin/*, filters: [{ name: login }] }
`;

const { resources } = resourceSetOf(TEXT);
const gatewayApi = gatewayApiOf(resources, {});
const memo = new Memo();
const rows = routeRows({ resources, states: [], problems: [], gatewayApi, memo });
const rowOf = (name: string) => rows.find(({ id }) => id === `Mapping/default/${name}`);

test('each route says which Filters decide, and what passes', () => {
  const covered = rows.map(({ covered, filters, id }) => [id.split('/')[2], covered, ...filters]);
  assert.deepEqual(covered, [
    ['all', 'part', 'default/login'],
    ['admin', 'part', 'default/login'],
    ['free', 'none'],
    ['next', 'part', 'default/login'],
    ['shop', 'part', 'default/login'],
    ['probe', 'bypass'],
  ]);
});

test('Mappings that share a route have their shares', () => {
  assert.deepEqual(
    [rowOf('shop')?.share, rowOf('next')?.share, rowOf('all')?.share],
    [90, 10, undefined],
  );
  assert.equal(rowOf('shop')?.services.join(), 'https://shop:8443');
});

test('routes without traffic come last when they are sorted by it', () => {
  const rates = { rate: 2, requests: 2, clientErrors: 0, serverErrors: 0, p50: null, p99: null };
  const figures = new Map([
    ['Mapping/default/shop', { lastMinute: rates, last15Minutes: rates, answeredByGateway: 0 }],
  ]);
  assert.equal(sortedRoutes(rows, 'rate', figures)[0]?.id, 'Mapping/default/shop');
  for (const sort of ['', 'toString', '__proto__'])
    assert.equal(sortedRoutes(rows, sort, figures), rows);
  assert.match(routeText(rowOf('free') ?? assert.fail()), /\bopen\b/);
});

test('a route tells of what overlaps it, and of no credential', () => {
  const view = routeView('Mapping/default/next', {
    rows,
    resources,
    problems: [],
    gatewayApi,
    memo,
  });
  assert.deepEqual(
    view?.wider.map(({ id }) => id),
    ['Mapping/default/all'],
  );
  assert.deepEqual(
    view?.within.map(({ id }) => id),
    ['Mapping/default/probe'],
  );
  assert.deepEqual(
    view?.sharing.map(({ share }) => share),
    [10, 90],
  );
  assert.deepEqual(
    view?.rules.map(({ path }) => path),
    ['/shop/open*', '/shop/*'],
  );
  assert.doesNotMatch(JSON.stringify(view), /s3cret/);
  for (const id of ['', 'Mapping/default/none', '__proto__'])
    assert.equal(routeView(id, { rows, resources, problems: [], gatewayApi, memo }), undefined);
});

test('the page of a route has no rule that none of its requests meets', () => {
  const { resources } = resourceSetOf(`
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: home }
spec: { prefix: /, prefix_exact: true, host: a.test, service: web }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: shop }
spec: { prefix: /shop/, host: a.test, service: web }
---
apiVersion: gateway.internal/v2
kind: Filter
metadata: { name: login }
spec: { JWT: { jwksURI: "https://login.example.com/keys" } }
---
apiVersion: gateway.internal/v2
kind: FilterPolicy
metadata: { name: policy }
spec:
  rules:
    - { path: /shop/open* }
    - { host: b.test, path: /shop/*, filters: [{ name: login }] }
    - { host: "*.test", path: "*/admin", filters: [{ name: login }] }
`);
  const gatewayApi = gatewayApiOf(resources, {});
  const memo = new Memo();
  const rows = routeRows({ resources, states: [], problems: [], gatewayApi, memo });
  const rulesOf = (name: string) =>
    routeView(`Mapping/default/${name}`, {
      ...{ rows, resources, problems: [], gatewayApi, memo },
    })?.rules.map(({ host, path }) => `${host} ${path}`);
  assert.deepEqual(rulesOf('home'), []);
  assert.deepEqual(rulesOf('shop'), ['* /shop/open*', '*.test */admin']);
});
