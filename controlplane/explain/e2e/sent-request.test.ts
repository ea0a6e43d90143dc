import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type CompiledEnvoy, startCompiled } from '#controlplane/compile/e2e/compiled-envoy.ts';
import { type Echo, startEchoServer } from '#controlplane/compile/e2e/echo-server.ts';
import { until } from '#envoy/e2e/until.ts';
import { describe as describeExplanation } from '../describe.ts';
import { document, explained, LOGIN, policy } from '../testing/explained.ts';

/** Name → the fields of a Mapping beside its service. */
const MAPPINGS: Readonly<Record<string, string>> = {
  slash: 'prefix: /slash/, rewrite: /v1/',
  bare: 'prefix: /bare, rewrite: /',
  kept: 'prefix: /kept/, rewrite: ""',
  exact: 'prefix: /exact, prefix_exact: true, rewrite: /other',
  expression: 'prefix: "/e/[0-9]+", prefix_regex: true',
  groups:
    "prefix: /g/, regex_rewrite: {pattern: '/g/([a-z]+)/([0-9]+)', substitution: '/$/\\2/\\1'}",
  patient: 'prefix: /patient/, timeout_ms: 0',
  headers:
    'prefix: /h/, host_rewrite: inner.test, add_request_headers: {x-a: b, x-b: {value: c, append: false}}, remove_request_headers: [x-gone]',
};

/** Share their requests. */
const CANARIES: Readonly<Record<string, string>> = {
  wa: 'prefix: /w/, weight: 50, rewrite: /a/, add_request_headers: {x-map: wa}, remove_request_headers: [x-gone], add_response_headers: {x-r: ra}',
  wb: 'prefix: /w/, weight: 50, rewrite: /b/, add_request_headers: {x-map: wb}, host_rewrite: wb.test',
};

const yaml = (service: string) =>
  Object.entries({ ...MAPPINGS, ...CANARIES })
    .map(([name, spec]) => document('Mapping', name, `{service: '${service}', ${spec}}`))
    .join('');

describe('what a service gets is what explain says', () => {
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

  for (const ask of [
    '/slash/x?q=1',
    '/bare',
    '/bare/x',
    '/kept/x?',
    '/exact?a',
    '/e/12',
    '/g/ab/12?z',
    '/g/none',
    '/h/x',
    '/patient/x',
  ])
    test(ask, async () => {
      const headers = { 'x-gone': 'a', 'x-a': 'own' };
      const echo = JSON.parse((await envoy.ask(ask, { host: 'site.test', headers })).body) as Echo;
      const { sent } = explained(yaml('s'), {
        url: `http://site.test${ask}`,
        header: ['x-gone: a', 'x-a: own'],
      });
      assert.equal(sent?.path, echo.path);
      assert.equal(sent?.host, echo.headers.host);
      for (const { name, value } of sent?.requestHeaders ?? [])
        assert.ok(
          value === undefined
            ? !(name in echo.headers)
            : String(echo.headers[name]).includes(value),
          name,
        );
    });

  test('at each Mapping that shares the requests', async () => {
    const { route, sent } = explained(yaml('s'), { url: 'http://site.test/w/1' });
    assert.equal(sent, undefined);
    const headers = { 'x-gone': 'a' };
    const seen = new Map<unknown, unknown>();
    await until(async () => {
      const answer = await envoy.ask('/w/1', { host: 'site.test', headers });
      const { headers: got, path } = JSON.parse(answer.body) as Echo;
      const response = answer.headers['x-r'];
      seen.set(got['x-map'], [path, got.host, 'x-gone' in got, response]);
      return seen.size === 2 || undefined;
    });
    for (const { of, sent } of route?.targets ?? []) {
      const [added, removed] = sent?.requestHeaders ?? [];
      assert.equal(of.resource, `Mapping default/${added?.value}`);
      assert.deepEqual(seen.get(added?.value), [
        sent?.path,
        sent?.host,
        removed?.name !== 'x-gone',
        sent?.responseHeaders[0]?.value,
      ]);
    }
    assert.equal(route?.targets.length, 2);
  });
});

describe('explain shows', () => {
  const shown = (spec: string, url = 'http://site.test/a/b?c') =>
    describeExplanation(explained(document('Mapping', 'm', `{service: s, ${spec}}`), { url }));

  test('what the service gets, for how long it is waited for, and what is repeated', () => {
    const text = shown(
      'prefix: /a/, rewrite: /v1/, timeout_ms: 4000, add_request_headers: {x-a: b}, retry_policy: {retry_on: 5xx, num_retries: 2}',
    );
    assert.match(text, /^The service gets\n {2}\/v1\/b\?c, host site\.test\n {2}x-a: b/m);
    assert.match(text, /^ {2}an answer must begin within 4s$/m);
    assert.match(text, /^ {2}2 retries: connect-failure, .*5xx, reset$/m);
  });

  test('what each Mapping that shares the requests gets, or once what all get', () => {
    const canaries = (fields: string) =>
      document('Mapping', 'a', '{prefix: /, service: s, weight: 90}') +
      document('Mapping', 'b', `{prefix: /, service: s, weight: 10, ${fields}}`);
    const text = (fields: string) => describeExplanation(explained(canaries(fields)));
    assert.match(text('labels: {}'), /^The service gets\n {2}\/, host site\.test\n/m);
    const apart = text('host_rewrite: b.test, add_response_headers: {x-r: b}');
    for (const shown of [
      /^The service gets, at s, Mapping default\/a \(in\.yaml:\d+\)\n {2}\/, host site\.test\n/m,
      /^The service gets, at s, Mapping default\/b \(in\.yaml:\d+\)\n {2}\/, host b\.test\n/m,
      /^The client gets, at s, Mapping default\/b \(in\.yaml:\d+\)\n {2}x-r: b /m,
    ])
      assert.match(apart, shown);
  });

  test('that a reset is repeated where the method is safe', () => {
    const retries = (method: string, timeout: number) =>
      explained(document('Mapping', 'm', `{service: s, prefix: /, timeout_ms: ${timeout}}`), {
        method,
      }).sent?.retryOn.includes('reset');
    assert.deepEqual(
      [retries('GET', 0), retries('POST', 0), retries('GET', 3000), retries('POST', 3000)],
      [true, false, true, false],
    );
  });

  for (const [spec, target] of [
    ['prefix: /a/, host_redirect: true, service: "https://new.test"', 'https://new.test/a/b?c'],
    [
      'prefix: /a/, host_redirect: true, service: "http://new.test:8080", path_redirect: /x',
      'http://new.test:8080/x?c',
    ],
    [
      'prefix: /a/, host_redirect: true, service: new.test, prefix_redirect: /z/',
      'http://new.test/z/b?c',
    ],
  ] as const)
    test(`where a redirect leads: ${target}`, () => {
      const text = describeExplanation(
        explained(document('Mapping', 'm', `{${spec}}`), { url: 'http://site.test/a/b?c' }),
      );
      assert.ok(text.includes(`its route redirects it to "${target}"`), text);
    });
});

describe('a limit on a header that a login sets', () => {
  const limited = (pattern: string) =>
    LOGIN +
    policy('{filters: [{name: login}]}') +
    document(
      'Mapping',
      'm',
      '{prefix: /, service: s, labels: {gateway: [{per-user: [{user: {header: x-user, omit_if_not_present: true}}]}]}}',
    ) +
    document(
      'RateLimit',
      'r',
      `{domain: gateway, limits: [{pattern: ${pattern}, rate: 1, unit: minute}]}`,
    );

  test('applies to any user, though the client sends no such header', () => {
    const { rateLimits } = explained(limited('[{user: "*"}]'));
    const [only] = rateLimits?.cases ?? [];
    assert.deepEqual(only?.groups, [
      {
        name: 'per-user',
        domain: 'gateway',
        labels: [{ key: 'user', value: '(set by Filter default/login)' }],
      },
    ]);
    assert.equal(only?.applied.length, 1);
  });
});
