import assert from 'node:assert/strict';
import { test } from 'node:test';
import { document, explained, jwt, policy, section } from './testing/explained.ts';

const gateway = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.networking.k8s.io/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

const FILTER =
  '{type: ExtensionRef, extensionRef: {group: gateway.internal, kind: Filter, name: users}}';

const SITE = [
  gateway('GatewayClass', 'gateway', '{controllerName: gateway.internal/gateway-controller}'),
  gateway(
    'Gateway',
    'site',
    `{gatewayClassName: gateway, listeners: [{name: http, port: 8000, protocol: HTTP},
      {name: https, port: 8443, protocol: HTTPS, hostname: site.test, tls: {options: {gateway.internal/issuer: gateway}}},
      {name: other, port: 8443, protocol: HTTPS, hostname: other.test, tls: {options: {gateway.internal/issuer: gateway}}},
      {name: db, port: 8443, protocol: TLS, hostname: db.test, tls: {mode: Passthrough}}]}`,
  ),
  gateway(
    'HTTPRoute',
    'web',
    `{parentRefs: [{name: site, sectionName: https}], rules: [
      {matches: [{path: {value: /private}}], filters: [${FILTER}], backendRefs: [{name: web, port: 80}]},
      {matches: [{path: {value: /p}}], backendRefs: [{name: web, port: 80, weight: 3, filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replaceFullPath: /}}}]}, {name: next, port: 80}]},
      {matches: [{path: {value: /a}}], backendRefs: [{name: web, port: 80, weight: 3}, {name: next, port: 80}]}]}`,
  ),
  gateway(
    'HTTPRoute',
    'plain',
    '{parentRefs: [{name: site, sectionName: http}], rules: [{filters: [{type: RequestRedirect, requestRedirect: {scheme: https, port: 8443}}]}]}',
  ),
  gateway(
    'TLSRoute',
    'db',
    '{parentRefs: [{name: site, sectionName: db}], hostnames: [db.test], rules: [{backendRefs: [{name: db, port: 5432}]}]}',
  ),
  jwt('users'),
  document('Mapping', 'all', '{prefix: /, service: s}'),
].join('');

const at = (url: string, yaml = SITE) => explained(yaml, { url });

test('a URL with the port of a Gateway is for its routes, and another for those of Mappings', () => {
  const { request, route } = at('https://site.test:8443/a/b');
  assert.equal(route?.resource, 'HTTPRoute default/web');
  const shares = [
    ['Service/default/web:80', 75],
    ['Service/default/next:80', 25],
  ];
  const told = (found = route) => found?.targets.map(({ cluster, percent }) => [cluster, percent]);
  assert.deepEqual(told(), shares);
  assert.deepEqual(told(at('https://site.test:8443/p/b').route), shares, 'with paths of their own');
  assert.equal(request.tls?.resource, 'Gateway default/site');
  assert.equal(at('http://site.test/a/b').route?.resource, 'Mapping default/all');
});

test('a backend that rewrites the path for itself gets another one than those beside it', () => {
  const { route, sent } = at('https://site.test:8443/p/b');
  const paths = route?.targets.map(({ sent }) => sent?.path);
  assert.deepEqual([paths, sent], [['/', '/p/b'], undefined]);
});

test('a redirect of a route keeps what it does not name', () => {
  const { answer } = at('http://site.test:8000/a?q');
  assert.equal(answer?.status, 302);
  assert.match(answer?.reason ?? '', /https:\/\/site\.test:8443\/a\?q/);
});

test('a host of another listener is told to use another connection', () => {
  const { answer } = explained(SITE, {
    url: 'https://site.test:8443/a',
    header: ['Host: other.test:8443'],
  });
  assert.equal(answer?.status, 421);
});

test('a connection that is passed on is none of HTTP', () => {
  const { answer } = at('https://db.test:8443/');
  assert.match(answer?.reason ?? '', /not one of HTTP, see Gateway\/default\/site/);
});

test('a path without a rule is not found, and the nearest route is told', () => {
  const { answer, nearest } = at('https://site.test:8443/c');
  assert.deepEqual([answer?.status, answer?.reason], [404, 'no route matches it']);
  assert.equal(nearest?.[0]?.resource, 'HTTPRoute default/web');
});

test('Filters that a rule names are shown, and then those by host and path', () => {
  const more = [jwt('plan'), policy('{path: /private/*, filters: [{name: plan}]}')].join('');
  const { filters } = at('https://site.test:8443/private/x', SITE + more);
  assert.ok(filters?.decision === 'chain');
  assert.deepEqual(
    filters.chain.map(({ resource }) => resource),
    ['Filter default/users', 'Filter default/plan'],
  );
  const alone = at(
    'https://site.test:8443/private/x',
    SITE + policy('{host: else.test, filters: [{name: users}]}'),
  ).filters;
  assert.equal(alone?.decision, 'chain', 'also where no rule of a FilterPolicy can match');
  assert.deepEqual(
    [filters.rule.resource, filters.rule.field],
    ['HTTPRoute default/web', 'spec.rules[0]'],
  );
  assert.deepEqual(section(at('https://site.test:8443/a')), [
    '  off: no rule can match in this virtual host, and it can be no protected origin',
  ]);
});

const TARGETS = [
  document(
    'FilterPolicy',
    'shop',
    '{targetRefs: [{kind: HTTPRoute, name: gone}, {kind: HTTPRoute, name: web}], filters: [{name: users, ifRequestHeader: {name: x-a}}]}',
  ),
  document(
    'RateLimit',
    'shop',
    '{targetRefs: [{kind: Gateway, name: site}], limits: [{labels: [remote_address], rate: 5, unit: minute}]}',
  ),
].join('');

test('a policy of a target is named, with the target', () => {
  const lines = section(at('https://site.test:8443/a', SITE + TARGETS));
  assert.equal(lines[0], '  FilterPolicy default/shop (spec.targetRefs[1]), for HTTPRoute/web');
  assert.match(lines[1] ?? '', /Filter default\/users, JWT/);
});

test('a Filter that a rule names runs behind those of a policy', () => {
  const { filters } = at('https://site.test:8443/private/x', SITE + TARGETS);
  assert.ok(filters?.decision === 'chain');
  assert.deepEqual(
    filters.chain.map(({ applies }) => applies),
    ['no', 'yes'],
  );
});

const BEHIND = [
  jwt('first', '{name: X-First, value: a}'),
  jwt('second', '{name: X-Second, value: b}'),
].join('');
const named = (name: string) =>
  `{type: ExtensionRef, extensionRef: {group: gateway.internal, kind: Filter, name: ${name}}}`;
const behind = (yaml: string) =>
  yaml.replace(
    'hostname: site.test,',
    `hostname: site.test, filters: {requests: [${named('first')}, ${named('second')}]},`,
  ) + BEHIND;

test('Filters of a listener run before those of a policy, and before those of the rule', () => {
  const { filters } = at('https://site.test:8443/private/x', behind(SITE + TARGETS));
  assert.ok(filters?.decision === 'chain');
  assert.deepEqual(
    filters.chain.map(({ applies, resource }) => [resource, applies]),
    [
      ['Filter default/first', 'yes'],
      ['Filter default/second', 'yes'],
      ['Filter default/users', 'no'],
      ['Filter default/users', 'yes'],
    ],
  );
});

test('Filters of a listener run where no route matches', () => {
  const { answer, filters } = at('https://site.test:8443/none', behind(SITE));
  assert.ok(filters?.decision === 'chain');
  assert.deepEqual(
    filters.chain.map(({ resource }) => resource),
    ['Filter default/first', 'Filter default/second'],
  );
  assert.equal(answer?.status, 404);
});

const CHOSEN = gateway(
  'HTTPRoute',
  'chosen',
  `{parentRefs: [{name: site, sectionName: https}], rules: [
    {matches: [{path: {value: /a}, headers: [{name: X-First, value: gold}]}], backendRefs: [{name: gold, port: 80}]}]}`,
);

test('the route is chosen behind the Filters of a listener, and by no header of a client', () => {
  const site = behind(SITE + CHOSEN);
  for (const header of [[], ['X-First: gold']]) {
    const { listener, route } = explained(site, { url: 'https://site.test:8443/a', header });
    assert.equal(route?.resource, 'HTTPRoute default/web');
    assert.deepEqual(listener?.sets, ['x-first', 'x-second']);
    assert.deepEqual(
      listener?.others.map(({ resource }) => resource),
      ['HTTPRoute default/chosen'],
    );
  }
  assert.equal(at('https://site.test:8443/a', SITE + CHOSEN).listener, undefined);
});

test('a service that a listener asks is shown, and the Filters around it', () => {
  const asking = behind(SITE).replace(
    'filters: {requests: [',
    'filters: {requests: [{type: ExternalAuth, externalAuth: {protocol: HTTP, http: {}, backendRef: {name: auth, port: 80}}}, ',
  );
  const { filters, listener } = at('https://site.test:8443/a', asking);
  assert.deepEqual(listener?.asks, ['Service/default/auth:80']);
  assert.ok(filters?.decision === 'chain');
  assert.equal(filters.rule.field, 'the listener https');
});

test('a service that a rule asks is shown, and decides behind the Filters', () => {
  const external =
    '{type: ExternalAuth, externalAuth: {protocol: GRPC, grpc: {}, backendRef: {name: auth, port: 80}}}';
  for (const site of [SITE, behind(SITE)]) {
    const { asks, filters, route } = at(
      'https://site.test:8443/private/x',
      site.replace(`filters: [${FILTER}]`, `filters: [${external}, ${FILTER}]`),
    );
    assert.deepEqual(asks, ['Service/default/auth:80~grpc']);
    assert.equal(filters?.decision, 'chain');
    assert.equal(route?.resource, 'HTTPRoute default/web');
  }
  assert.equal(at('https://site.test:8443/a').asks, undefined);
});

test('a limit of a target is shown with its labels', () => {
  const { rateLimits } = at('https://site.test:8443/a', SITE + TARGETS);
  const [limit] = rateLimits?.cases[0]?.applied ?? [];
  assert.deepEqual([limit?.name, limit?.rate], ['shop.default-0', 5]);
  const [group] = rateLimits?.cases[0]?.groups ?? [];
  assert.match(group?.name ?? '', /^RateLimit\/default\/shop\/\d+$/);
});
