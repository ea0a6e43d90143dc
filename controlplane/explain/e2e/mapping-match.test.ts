import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type CompiledEnvoy, startCompiled } from '#controlplane/compile/e2e/compiled-envoy.ts';
import { startEchoServer } from '#controlplane/compile/e2e/echo-server.ts';
import { document, explained } from '../testing/explained.ts';

/** Name → what it matches. */
const MATCHES: Readonly<Record<string, string>> = {
  'host-regex': "host: '(www|api)[.]example[.]com', host_regex: true, prefix: /host/",
  'host-anything': "host: '.*[.]com', host_regex: true, prefix: /wide/",
  'host-exact': 'host: api.example.com, prefix: /wide/',
  'host-wildcard': "host: '*.example.com', prefix: /wide/",
  'host-none': 'prefix: /wide/',
  'method-regex': 'method: GET|PUT, method_regex: true, prefix: /method/',
  'regex-headers': "regex_headers: {X-Tenant: 'blue|gr.en', Host: '.*[.]test'}, prefix: /headers/",
  'header-and-regex': "headers: {x-a: true}, regex_headers: {x-a: '[0-9]+'}, prefix: /headers/",
  query: 'query_parameters: {a: b, flag: true}, prefix: /query/',
  'query-empty': "query_parameters: {e: ''}, prefix: /query/",
  'query-escaped': "query_parameters: {'a%20b': c%2Fd}, prefix: /query/",
  'query-regex': "regex_query_parameters: {id: '[0-9]+'}, prefix: /query/",
  'query-both':
    "query_parameters: {id: '7'}, regex_query_parameters: {id: '[0-9]+'}, prefix: /query/",
  'query-any': 'prefix: /query/',
  'any-case': 'prefix: /Any, case_sensitive: false',
  'own-case': 'prefix: /any',
  'any-case-exact': 'prefix: /Exact, prefix_exact: true, case_sensitive: false, rewrite: ""',
};

const CLOSED = "{prefix: /query/, query_parameters: {closed: 'yes'}, service: 'ftp://x'}";

const yaml = (service: string) =>
  [
    ...Object.entries(MATCHES).map(([name, match]) =>
      document('Mapping', name, `{${match}, service: '${service}', host_rewrite: ${name}.by}`),
    ),
    document('Mapping', 'closed', CLOSED),
  ].join('');

type Asked = {
  readonly ask: string;
  readonly host?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** The Mapping that serves it. Absent: 404. */
  readonly by?: string;
};

const ASKED: readonly Asked[] = [
  { ask: '/host/', host: 'www.example.com', by: 'host-regex' },
  { ask: '/host/', host: 'API.Example.com:8080', by: 'host-regex' },
  { ask: '/host/', host: 'www.example.com.', by: 'host-regex' },
  { ask: '/host/', host: 'xwww.example.com' },
  { ask: '/host/', host: 'www.example.com.evil.test' },
  { ask: '/host/', host: 'wwwxexample.com' },
  { ask: '/wide/', host: 'api.example.com', by: 'host-exact' },
  { ask: '/wide/', host: 'www.example.com', by: 'host-wildcard' },
  { ask: '/wide/', host: 'www.example.org', by: 'host-none' },
  { ask: '/wide/', host: 'other.com', by: 'host-anything' },
  { ask: '/method/', by: 'method-regex' },
  { ask: '/method/', method: 'PUT', by: 'method-regex' },
  { ask: '/method/', method: 'POST' },
  { ask: '/method/', method: 'OPTIONS' },
  { ask: '/headers/', host: 'a.test', headers: { 'x-tenant': 'green' }, by: 'regex-headers' },
  { ask: '/headers/', host: 'a.test', headers: { 'x-tenant': 'greenish' } },
  { ask: '/headers/', host: 'a.org', headers: { 'x-tenant': 'blue' } },
  { ask: '/headers/', host: 'a.test' },
  { ask: '/headers/', headers: { 'x-a': '42' }, by: 'header-and-regex' },
  { ask: '/headers/', headers: { 'x-a': 'b' } },
  { ask: '/query/?a=b&flag', by: 'query' },
  { ask: '/query/?flag=&a=b', by: 'query' },
  { ask: '/query/?a=b&a=c&flag', by: 'query' },
  { ask: '/query/?a=c&a=b&flag', by: 'query-any' },
  { ask: '/query/?a=b', by: 'query-any' },
  { ask: '/query/?A=b&flag', by: 'query-any' },
  { ask: '/query/?a=%62&flag', by: 'query-any' },
  { ask: '/query/?a=b;flag', by: 'query-any' },
  { ask: '/query/?e', by: 'query-empty' },
  { ask: '/query/?e=', by: 'query-empty' },
  { ask: '/query/?e=1', by: 'query-any' },
  { ask: '/query/?a%20b=c%2Fd', by: 'query-escaped' },
  { ask: '/query/?a+b=c/d', by: 'query-any' },
  { ask: '/query/?id=42', by: 'query-regex' },
  { ask: '/query/?id=42x', by: 'query-any' },
  { ask: '/query/?id=7', by: 'query-both' },
  { ask: '/query/', by: 'query-any' },
  { ask: '/query/?&&=x&a==b', by: 'query-any' },
  { ask: '/Any/x', by: 'any-case' },
  { ask: '/aNY/x', by: 'any-case' },
  { ask: '/any/x', by: 'own-case' },
  { ask: '/%41NY/x', by: 'any-case' },
  { ask: '/EXACT', by: 'any-case-exact' },
  { ask: '/EXACT/' },
];

describe('what a Mapping matches is what Envoy sends it, and what explain says', () => {
  let upstream: Awaited<ReturnType<typeof startEchoServer>>;
  let envoy: CompiledEnvoy;
  before(async () => {
    upstream = await startEchoServer('up');
    envoy = await startCompiled(yaml(upstream.address));
  });
  after(async () => {
    await envoy.stop();
    await upstream.close();
  });

  for (const { ask, by, ...asked } of ASKED) {
    const { headers = {}, host = 'localhost', method = 'GET' } = asked;
    const name = [method, host, ask, JSON.stringify(headers)].join(' ');
    test(`${name} is ${by === undefined ? 'nobody’s' : `that of ${by}`}`, async () => {
      const { body, status } = await envoy.ask(ask, asked);
      const seen = status === 200 ? JSON.parse(body).headers.host : undefined;
      assert.deepEqual([status, seen], by === undefined ? [404, undefined] : [200, `${by}.by`]);
      const header = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      const { route } = explained(yaml('s'), { url: `http://${host}${ask}`, header, method });
      assert.equal(route?.resource, by === undefined ? undefined : `Mapping default/${by}`);
    });
  }

  test('a refused Mapping closes just what it matches', async () => {
    assert.equal((await envoy.ask('/query/?closed=yes')).status, 500);
    assert.equal((await envoy.ask('/query/?closed=no')).status, 200);
  });
});

describe('beside a policy with rules for paths', () => {
  let upstream: Awaited<ReturnType<typeof startEchoServer>>;
  let envoy: CompiledEnvoy;
  const resources = (service: string) =>
    [
      document(
        'Mapping',
        'secret',
        `{prefix: /, case_sensitive: false, rewrite: /, service: '${service}'}`,
      ),
      document(
        'Mapping',
        'any',
        `{prefix: /Any, case_sensitive: false, rewrite: /, service: '${service}'}`,
      ),
      document('FilterPolicy', 'p', '{rules: [{path: /any/secret}], refused: true}'),
    ].join('');
  before(async () => {
    upstream = await startEchoServer('up');
    envoy = await startCompiled(resources(upstream.address));
  });
  after(async () => {
    await envoy.stop();
    await upstream.close();
  });

  for (const [ask, status] of [
    ['/Any/x', 200],
    ['/any/x', 500],
    ['/ANY/SECRET', 500],
    ['/any/secret', 500],
    ['/other/', 200],
  ] as const) {
    test(`${ask} of a Mapping that takes any letter case is answered ${status}`, async () => {
      assert.equal((await envoy.ask(ask)).status, status);
      const { answer } = explained(resources('s'), { url: ask });
      assert.equal(answer?.status, status === 200 ? undefined : status);
    });
  }

  test('explain tells why', () => {
    const { answer } = explained(resources('s'), { url: '/any/x' });
    assert.match(
      answer?.reason ?? '',
      /case_sensitive: paths in other letter case answer 500, since they would avoid the FilterPolicies' rules/,
    );
  });
});

test('a prefix in any letter case is rewritten', async t => {
  const upstream = await startEchoServer('up');
  t.after(upstream.close);
  const any = (name: string, spec: string) =>
    document('Mapping', name, `{case_sensitive: false, service: '${upstream.address}', ${spec}}`);
  const envoy = await startCompiled(
    any('a', 'prefix: /Api') +
      any('b', 'prefix: /Below/, rewrite: /V1') +
      any('c', 'prefix: /Same, rewrite: /Same'),
  );
  t.after(envoy.stop);
  for (const [asked, got] of [
    ['/API/x', '/x'],
    ['/api', '/'],
    ['/BELOW/X?y', '/V1/X?y'],
    ['/SAME/x', '/Same/x'],
  ] as const)
    assert.equal((await envoy.echo(asked)).path, got);
});

const MISSES: readonly (readonly [match: string, url: string, reason: string])[] = [
  ['query_parameters: {a: secret}', '/?b', 'the query has no a'],
  ['query_parameters: {a: secret}', '/?a=b', 'the parameter a of the query has another value'],
  ["regex_headers: {x-a: 'secret.*'}", '/', 'the header x-a is missing'],
  ["host: 'a[.]test', host_regex: true", '/', 'the Host has another value'],
  ['method: P.*, method_regex: true', '/', 'the method is GET, not one that P.* matches'],
];

for (const [match, url, reason] of MISSES) {
  test(`a request that {${match}} does not match misses it because ${reason}`, () => {
    const explanation = explained(document('Mapping', 'm', `{prefix: /, service: s, ${match}}`), {
      url,
    });
    assert.deepEqual(
      explanation.nearest?.map(({ reasons }) => reasons),
      [[reason]],
    );
  });
}
