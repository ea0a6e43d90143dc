import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startEchoServer } from '#controlplane/compile/e2e/echo-server.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { type GuardedEnvoy, startGuarded } from '#ext-authz/e2e/guarded-envoy.ts';
import { denying, scriptedKit } from '#ext-authz/testing/scripted-kit.ts';
import { compileOptions } from '../../../cli/built-in-addresses.ts';
import { parseClientRequest } from '../client-request.ts';
import { type Explanation, explainer } from '../explanation.ts';

/** Each filter answers with a status of its own, which shows that it was the first to run. */
const STATUSES: Readonly<Record<string, number>> = {
  a: 470,
  b: 471,
  admin: 472,
  high: 473,
  login: 474,
};
/** What the endpoint of the scripted kit answers. */
const ENDPOINT = 200;
/** The service removes it from every request that it is asked about. */
const COOKIE = 'gateway_session.x.y=1';

let upstream: Awaited<ReturnType<typeof startEchoServer>>;
let envoy: GuardedEnvoy;
let explain: ReturnType<typeof explainer>;

before(async () => {
  upstream = await startEchoServer('up');
  const yaml = resources(upstream.address);
  const { resources: written, problems } = resourceSetOf(yaml);
  const options = compileOptions({});
  explain = explainer({ resources: written, problems, nodeGroup: 'edge', options });
  const scripts = Object.entries(STATUSES).map(([name, status]) => [
    `default/${name}`,
    denying(status),
  ]);
  envoy = await startGuarded(yaml, scriptedKit(Object.fromEntries(scripts)));
});

after(async () => {
  await envoy.stop();
  await upstream.close();
});

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

function resources(service: string): string {
  const to = `rewrite: '', service: '${service}'`;
  return [
    document('Module', 'gateway', '{config: {escaped_slashes: keep}}'),
    document(
      'Filter',
      'login',
      `{OAuth2: {authorizationURL: 'https://idp.test', clientID: a, secret: s, protectedOrigins: [{origin: 'http://site.test'}]}}`,
    ),
    ...['a', 'b', 'admin', 'high'].map(name =>
      document(
        'Filter',
        name,
        `{JWT: {jwksURI: 'https://idp.test/keys', injectRequestHeaders: [{name: X-User, value: a}]}}`,
      ),
    ),
    document(
      'FilterPolicy',
      'zz',
      `{precedence: 1, rules: [{path: '/high/**', filters: [{name: high}]}]}`,
    ),
    document(
      'FilterPolicy',
      'site',
      `{rules: [
        {host: site.test, path: /open/*},
        {host: '*.test', path: /admin/*, filters: [{name: admin}]},
        {host: site.test, path: /closed/*, filters: [{name: gone}]},
        {host: site.test, path: /login/*, filters: [{name: login}]},
        {host: '*site.test', path: /a/*, filters: [
          {name: a, ifRequestHeader: {name: X-A, valueRegex: ^1}},
          {name: b, ifRequestHeader: {name: X-User}},
          {name: b, ifRequestHeader: {name: X-B, negate: true, value: skip}}]}]}`,
    ),
    document('Mapping', 'all', `{host: '*.test', prefix: /, ${to}}`),
    document('Mapping', 'site', `{host: site.test, prefix: /, ${to}}`),
    document(
      'Mapping',
      'bypass',
      `{host: site.test, prefix: /admin/open/, bypass_auth: true, ${to}}`,
    ),
    document('Mapping', 'free', `{host: free.example, prefix: /, ${to}}`),
  ].join('');
}

function explained(
  host: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Explanation {
  const header = [
    `Host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  const request = parseClientRequest('GET', path, { header, from: '127.0.0.1' });
  return explain(request).explanation;
}

/** Returns the required status: that of the first filter that runs, since each one answers. */
function expectedStatus({ answer, filters }: Explanation): number {
  if (filters?.decision === 'endpoint') return ENDPOINT;
  const ran =
    filters?.decision === 'chain'
      ? filters.chain.find(({ applies }) => applies === 'yes')
      : undefined;
  const name = ran?.resource.split('/').at(-1) ?? '';
  return STATUSES[name] ?? answer?.status ?? 200;
}

const HOSTS = [
  'site.test',
  'SITE.test:8080',
  'site.test.',
  'a.site.test',
  'other.test',
  'free.example',
];
const PATHS = [
  ...[
    '/',
    '/a/x',
    '/a',
    '/A/x',
    '/a/x?/admin/',
    '/open/x',
    '/admin/x',
    '/admin/open/x',
    '/closed/x',
    '/login/x',
  ],
  ...['/high/a', '/high/', '//admin//x', '/open/../admin/x', '/open/%2e%2e/admin/x', '/%61dmin/x'],
  ...[
    '/admin;v=1/x',
    '/open/..;/admin/x',
    '/open/..;x/a/y',
    '/open%2f..%2fadmin/x',
    '/admin%2Fx',
    '/a/x;y',
  ],
  ...[
    '/.gateway/oauth2/logout',
    '/.gateway/oauth2/x',
    '/open/../.gateway/oauth2/logout',
    '/.gateway/oauth2',
  ],
];
const HEADERS: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'X-A': '12' },
  { 'X-A': '2', 'X-B': 'skip' },
  { 'X-User': 'root', 'X-B': 'skip' },
];

for (const host of HOSTS) {
  test(`the service decides on requests to ${host} as explained`, async () => {
    for (const path of PATHS) {
      for (const headers of HEADERS) {
        const explanation = explained(host, path, headers);
        const told = `${path} ${JSON.stringify(headers)} ${JSON.stringify(explanation.filters)}`;
        const { body, status } = await envoy.ask(path, {
          host,
          headers: { ...headers, cookie: COOKIE },
        });
        assert.equal(status, expectedStatus(explanation), told);
        if (status !== 200 || explanation.answer !== undefined) continue;
        assert.equal(body.includes(COOKIE), explanation.filters?.decision === 'off', told);
      }
    }
  });
}

test('the requests above meet every decision but one', () => {
  const decisions = HOSTS.flatMap(host =>
    PATHS.map(path => explained(host, path, {}).filters?.decision),
  );
  assert.deepEqual([...new Set(decisions)].sort(), [
    'allowed',
    'ambiguous',
    'chain',
    'closed',
    'endpoint',
    'off',
  ]);
});
