import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatewayApiOf } from '#controlplane/compile/gateways/gateway-api-of.ts';
import { Memo } from '#controlplane/compile/memo.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { countedBackends } from './gateway-routes.ts';
import { gatewayRows } from './gateways.ts';
import { envoyConfiguration, routeView } from './route.ts';
import { routeRows, routeText } from './routes.ts';
import { serviceRows } from './services.ts';

const object = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.networking.k8s.io/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;

const own = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;

const LOGIN =
  '{ type: ExtensionRef, extensionRef: { group: gateway.internal, kind: Filter, name: login } }';
const MATCHES = `[{ path: { value: /account } }, { path: { type: Exact, value: /me }, method: PUT, headers: [{ name: X-Api-Key, value: s3cret }] }]`;

const TEXT = [
  object('GatewayClass', 'gateway', '{ controllerName: gateway.internal/gateway-controller }'),
  object(
    'Gateway',
    'site',
    `{ gatewayClassName: gateway, listeners: [{ name: http, port: 8000, protocol: HTTP }, { name: db, port: 8001, protocol: TCP }, { name: odd, port: 8002, protocol: SCTP }] }`,
  ),
  object(
    'HTTPRoute',
    'web',
    `{ parentRefs: [{ name: site }], hostnames: [a.test, b.test], rules: [
      { matches: ${MATCHES}, filters: [${LOGIN}], backendRefs: [{ name: web, port: 80, weight: 3 }, { name: next, port: 80 }] },
      { matches: [{ path: { value: / } }], backendRefs: [{ name: web, port: 80 }] }] }`,
  ),
  object(
    'HTTPRoute',
    'all',
    `{ parentRefs: [{ name: site, sectionName: http }], hostnames: [a.test], rules: [{ matches: [{ path: { value: /account/x } }], filters: [${LOGIN}], backendRefs: [{ name: web, port: 80 }] }] }`,
  ),
  object(
    'HTTPRoute',
    'lost',
    '{ parentRefs: [{ name: site, sectionName: none }], rules: [{ backendRefs: [{ name: web, port: 80 }] }] }',
  ),
  object(
    'TCPRoute',
    'db',
    '{ parentRefs: [{ name: site, sectionName: db }], rules: [{ backendRefs: [{ name: db, port: 5432 }] }] }',
  ),
  own('Filter', 'login', '{ JWT: { jwksURI: "https://login.example.com/keys" } }'),
  own(
    'RateLimit',
    'few',
    '{ targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: web }], limits: [{ name: few, rate: 3, unit: minute }] }',
  ),
  object(
    'HTTPRoute',
    'some',
    '{ parentRefs: [{ name: site, sectionName: http }], hostnames: [c.test], rules: [{ matches: [{ path: { value: /x } }], backendRefs: [{ name: web, port: 80 }] }] }',
  ),
  own(
    'FilterPolicy',
    'some',
    '{ targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: some }], filters: [{ name: login, ifRequestHeader: { name: x-api } }] }',
  ),
  own('FilterPolicy', 'policy', '{ rules: [{ path: /a*, filters: [{ name: login }] }] }'),
].join('');

const { resources } = resourceSetOf(TEXT);
const memo = new Memo();
const gatewayApi = gatewayApiOf(resources, {});
const rows = routeRows({ resources, states: [], problems: [], gatewayApi, memo });
const rowOf = (id: string) => rows.find(row => row.id === id) ?? assert.fail(id);
const view = (id: string) =>
  routeView(id, { rows, resources, problems: [], gatewayApi, memo }) ?? assert.fail(id);

test('a route of Gateways is in the list, with its hosts, paths, services and listeners', () => {
  const { hosts, listeners, paths, services } = rowOf('HTTPRoute/default/web');
  assert.deepEqual(hosts, ['a.test', 'b.test']);
  assert.deepEqual(paths, [
    { path: '/account', type: 'segments' },
    { path: '/me', type: 'exact', method: 'PUT', conditions: ['header x-api-key'] },
    { path: '/', type: 'prefix' },
  ]);
  assert.deepEqual(services, ['web:80', 'next:80']);
  assert.deepEqual(
    listeners.map(({ id }) => id),
    ['Gateway/default/site/http'],
  );
  for (const word of ['b.test', '/me', 'next:80', 'site/http'])
    assert.ok(routeText(rowOf('HTTPRoute/default/web')).includes(word), word);
});

test('each says which Filters decide: those that it names, and those of its paths', () => {
  const of = (id: string) => [rowOf(id).covered, ...rowOf(id).filters];
  assert.deepEqual(of('HTTPRoute/default/web'), ['part', 'default/login']);
  assert.deepEqual(of('HTTPRoute/default/all'), ['all', 'default/login']);
  assert.deepEqual(of('HTTPRoute/default/some'), ['part', 'default/login']);
  assert.deepEqual(of('TCPRoute/default/db'), ['bytes']);
});

test('the page of a route has its rules, its listeners, and what overlaps it', () => {
  const { attached, served, wider, within, ...web } = view('HTTPRoute/default/web');
  assert.deepEqual(
    served.map(({ backends, filters }) => [filters, backends]),
    [
      [
        ['default/login'],
        [
          { service: 'web:80', share: 75 },
          { service: 'next:80', share: 25 },
        ],
      ],
      [[], [{ service: 'web:80', share: 100 }]],
    ],
  );
  assert.deepEqual(attached[0], {
    ...{ id: 'Gateway/default/site/http', gateway: 'Gateway/default/site' },
    ...{ port: 8000, protocol: 'HTTP', hosts: ['a.test', 'b.test'] },
  });
  assert.deepEqual(
    web.limits.map(({ name, rate }) => [name, rate]),
    [['few', 3]],
  );
  assert.deepEqual(view('HTTPRoute/default/all').limits, []);
  assert.deepEqual([wider.length, within.map(({ id }) => id)], [0, ['HTTPRoute/default/all']]);
  assert.doesNotMatch(JSON.stringify({ served, wider, within, row: web.row }), /s3cret/);
});

test('a route that no listener serves says so', () => {
  const { attached, parents, row } = view('HTTPRoute/default/lost');
  assert.deepEqual([attached, row.hosts], [[], ['*']]);
  assert.match(parents[0] ?? '', /^site\/none: Accepted NoMatchingParent/);
});

test('clusters of Gateways are known by their names in statistics', () => {
  const backends = countedBackends(gatewayApi, resources);
  assert.equal(backends.get('Service/default/next_80'), 'next:80');
  assert.equal(backends.get('Service/default/db_5432~bytes'), 'db:5432');
});

test('services behind Gateways are among the services, with all their routes', () => {
  const services = serviceRows(rows, {
    ...{ upstreams: [], figuresOf: () => undefined },
    ...{ serviceOf: () => undefined, seconds: 900 },
  });
  assert.deepEqual(
    services.map(({ name, routes }) => [name, routes]),
    [
      ['db:5432', 1],
      ['next:80', 1],
      ['web:80', 3],
    ],
  );
});

const OPTIONS = {
  edge: { host: '127.0.0.1', port: 8080 },
  sds: { host: '127.0.0.1', port: 1 },
  rateLimit: { host: '127.0.0.1', port: 2 },
  extAuthz: { host: '127.0.0.1', port: 3 },
};

test('what Envoy gets of a Mapping has no value of a header or parameter, but its hosts', () => {
  const text = own(
    'Mapping',
    'auth',
    '{ prefix: /, service: s, headers: { X-Auth-Key: s3cret, ":authority": a.test }, query_parameters: { sig: s3cret }, add_request_headers: { X-Team: s3cret } }',
  );
  const { resources } = resourceSetOf(text);
  const row = { id: 'Mapping/default/auth', nodeGroup: 'edge' };
  const shown = envoyConfiguration(row, resources, OPTIONS);
  assert.doesNotMatch(shown, /s3cret/);
  for (const part of [
    /prefix: \//,
    /x-auth-key/,
    /sig/,
    /x-team/,
    /:authority\W.*\s.*\s.*\s.*a\W+test/,
  ])
    assert.match(shown, part);
});

test('what Envoy gets of a route is its routes and clusters', () => {
  const text = envoyConfiguration(rowOf('HTTPRoute/default/web'), resources, OPTIONS);
  assert.match(text, /path_separated_prefix: \/account/);
  assert.match(text, /name: Service\/default\/next:80/);
  assert.doesNotMatch(text, /s3cret/);
});

test('a Gateway tells its addresses, its listeners, and what is not programmed', () => {
  const problems = gatewayApi.problems;
  const proxies = [
    { node: 'edge-1', group: 'edge', address: '', standing: 'settled', types: [] },
  ] as const;
  const edgeOf = () => ({ addresses: [{ type: 'IPAddress', value: '127.0.0.1' }], missing: [] });
  const facts = { api: gatewayApi, edgeOf, problems, resources };
  const [site] = gatewayRows({ ...facts, states: [], proxies });
  assert.deepEqual([site?.addresses, site?.programmed.is], [['127.0.0.1'], 'yes']);
  assert.deepEqual(
    site?.listeners.map(({ attachedRoutes, name, programmed }) => [
      name,
      attachedRoutes,
      programmed.is,
    ]),
    [
      ['http', 3, 'yes'],
      ['db', 1, 'yes'],
      ['odd', 0, 'no'],
    ],
  );
  assert.match(site?.listeners[2]?.programmed.message ?? '', /SCTP is not served here/);
  assert.equal(site?.problems[0]?.field, 'spec.listeners[2].protocol');
  assert.equal(gatewayRows({ ...facts, states: [], proxies: [] })[0]?.programmed.is, 'not yet');
  const forbidden = { addresses: [], missing: [], trouble: 'deployments is forbidden' };
  const [troubled] = gatewayRows({ ...facts, edgeOf: () => forbidden, states: [], proxies });
  assert.deepEqual(troubled?.programmed, { is: 'no', message: 'deployments is forbidden' });
});
