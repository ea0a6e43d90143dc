import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { stringify } from 'yaml';
import { type DeafUpstream, startDeafUpstream } from './deaf-upstream.ts';
import { getJson, type RequestOptions, request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';
import {
  type Echo,
  SILENT,
  startUntrustedUpstream,
  startUpstream,
  type Upstream,
} from './upstream.ts';

type Upstreams = {
  readonly one: Upstream;
  readonly two: Upstream;
  readonly untrusted: Upstream;
  readonly deaf: DeafUpstream;
};

/** Specs by name. `service` is that of `one` unless the spec has one. */
const mappings = ({ two, untrusted, deaf }: Upstreams) => ({
  default: { prefix: '/default' },
  kept: { prefix: '/kept', rewrite: '' },
  version: { prefix: '/v1', rewrite: '/v2' },
  slash: { prefix: '/slash/', rewrite: '/other' },
  odd: { prefix: '/a.b+c(d)' },
  exact: { prefix: '/exact', prefix_exact: true, rewrite: '/found' },
  regex: { prefix: '/re/[0-9]+', prefix_regex: true },
  method: { prefix: '/method', method: 'POST', rewrite: '' },
  headers: { prefix: '/headers', rewrite: '', headers: { 'x-color': 'blue', 'x-any': true } },
  host: { prefix: '/host', rewrite: '', host: 'shop.example.com' },
  wildcard: { prefix: '/wild', rewrite: '', host: '*.wild.example.com' },
  'host-rewrite': { prefix: '/host-rewrite', host_rewrite: 'inner.example.com' },
  'canary-old': { prefix: '/canary', rewrite: '' },
  'canary-new': { prefix: '/canary', rewrite: '', weight: 25, service: `127.0.0.1:${two.port}` },
  shorter: { prefix: '/prec', rewrite: '', precedence: 1, service: `127.0.0.1:${two.port}` },
  longer: { prefix: '/prec/longer', rewrite: '' },
  silent: { prefix: SILENT, rewrite: '', timeout_ms: 200 },
  deaf: {
    prefix: '/deaf',
    service: `127.0.0.1:${deaf.port}`,
    connect_timeout_ms: 100,
    timeout_ms: 10_000,
  },
  untrusted: { prefix: '/untrusted', service: `https://127.0.0.1:${untrusted.port}` },
});

function toYaml(specs: Readonly<Record<string, object>>, service: string): string {
  return Object.entries(specs)
    .map(([name, spec]) =>
      stringify({
        apiVersion: 'gateway.internal/v2',
        kind: 'Mapping',
        metadata: { name },
        spec: { service, ...spec },
      }),
    )
    .join('---\n');
}

function moduleYaml(config: object): string {
  return stringify({
    apiVersion: 'gateway.internal/v2',
    kind: 'Module',
    metadata: { name: 'gateway' },
    spec: { config },
  });
}

type Case = RequestOptions & {
  /** The path as the client writes it. */
  readonly ask: string;
  readonly host?: string;
  /** The path that the service gets. Absent when it gets nothing. */
  readonly gives?: string;
  /** Default: 200. */
  readonly status?: number;
  readonly from?: 'one' | 'two';
};

const BLUE = { 'x-color': 'blue', 'x-any': '1' };

const CASES: readonly Case[] = [
  { ask: '/default/health', gives: '/health' },
  { ask: '/default', gives: '/' },
  { ask: '/default?a=1&b=%20', gives: '/?a=1&b=%20' },
  { ask: '/default/x?a=/default', gives: '/x?a=/default' },
  { ask: '/kept/x?a=1', gives: '/kept/x?a=1' },
  { ask: '/v1/users', gives: '/v2/users' },
  { ask: '/v1', gives: '/v2' },
  { ask: '/slash/x', gives: '/other/x' },
  { ask: '/a.b+c(d)/x', gives: '/x' },
  { ask: '/aXb+c(d)/x', status: 404 },
  { ask: '/exact', gives: '/found' },
  { ask: '/exact/x', status: 404 },
  { ask: '/re/42', gives: '/re/42' },
  { ask: '/re/42x', status: 404 },
  { ask: '/method', method: 'POST', gives: '/method' },
  { ask: '/method', status: 404 },
  { ask: '/headers', headers: BLUE, gives: '/headers' },
  { ask: '/headers', headers: { ...BLUE, 'x-color': 'red' }, status: 404 },
  { ask: '/headers', headers: { 'x-color': 'blue' }, status: 404 },
  { ask: '/host', host: 'shop.example.com', gives: '/host' },
  { ask: '/host', host: 'SHOP.Example.com:8080', gives: '/host' },
  { ask: '/host', host: 'shop.example.com.', gives: '/host' },
  { ask: '/host', host: 'evil.example.com', status: 404 },
  { ask: '/wild', host: 'a.wild.example.com', gives: '/wild' },
  { ask: '/wild', host: 'wild.example.com', status: 404 },
  { ask: '/kept', host: 'a.wild.example.com', gives: '/kept' },
  { ask: '/prec/longer/x', gives: '/prec/longer/x', from: 'two' },
  { ask: SILENT, status: 504 },
  { ask: '/untrusted', status: 503 },
  { ask: '/kept%2Fx', status: 400 },
  { ask: '/kept%5Cx', status: 400 },
  { ask: '//kept//x', gives: '/kept/x' },
  { ask: '/default/../kept/./x', gives: '/kept/x' },
  { ask: '/default/%2e%2E/kept/x', gives: '/kept/x' },
  { ask: '/none', status: 404 },
];

describe('a Mapping through the edge', () => {
  let system: System;
  let upstreams: Upstreams;
  before(async () => {
    upstreams = {
      one: await startUpstream('one'),
      two: await startUpstream('two'),
      untrusted: await startUntrustedUpstream('untrusted'),
      deaf: await startDeafUpstream(),
    };
    const text = toYaml(mappings(upstreams), `127.0.0.1:${upstreams.one.port}`);
    system = await startSystem({ resources: { 'mappings.yaml': text } });
    const { problems } = await system.statusWhen(({ resources }) => {
      return resources.length > 10 && resources.every(({ state }) => state === 'in force');
    });
    assert.deepEqual(problems, []);
    await until(async () => (await request(system.edge, '/kept')).status === 200 || undefined);
  });
  after(async () => {
    await system.stop();
    for (const upstream of Object.values(upstreams)) await upstream.close();
  });

  for (const { ask, from = 'one', gives, host, status = 200, ...options } of CASES) {
    const asked = [
      options.method ?? 'GET',
      host ?? '',
      ask,
      JSON.stringify(options.headers ?? ''),
    ].join(' ');
    test(`${asked} gives ${gives ?? status}`, async () => {
      const headers = { ...options.headers, ...(host === undefined ? {} : { Host: host }) };
      const answer = await request(system.edge, ask, { ...options, headers });
      assert.equal(answer.status, status, answer.body);
      if (gives === undefined) return;
      const echo = JSON.parse(answer.body) as Echo;
      assert.deepEqual([echo.hostname, echo.url], [from, gives]);
    });
  }

  test('is not served by a service with an untrusted certificate', () => {
    assert.equal(upstreams.untrusted.requests(), 0);
  });

  test('tells the service the host that it is to see', async () => {
    const { headers } = await getJson<Echo>(system.edge, '/host-rewrite');
    assert.equal(headers.host, 'inner.example.com');
  });

  test('gives up soon when the connection is not accepted', async t => {
    const begin = performance.now();
    const { status } = await request(system.edge, '/deaf');
    const ms = Math.round(performance.now() - begin);
    t.diagnostic(`503 after ${ms} ms`);
    assert.equal(status, 503);
    assert.ok(ms < 3_000, 'without connect_timeout_ms it would be 3 s');
  });

  test('shares requests with its canary as weighted', async t => {
    let canary = 0;
    const requests = 400;
    for (let at = 0; at < requests; at++) {
      if ((await getJson<Echo>(system.edge, '/canary')).hostname === 'two') canary += 1;
    }
    t.diagnostic(`${canary} of ${requests} went to the canary of 25 %`);
    // Five standard deviations, so it fails by chance once in a million times.
    assert.ok(Math.abs(canary - 100) <= 44);
  });

  test('believes what a client says of its address and scheme only behind a trusted proxy', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.9', 'X-Forwarded-Proto': 'https' };
    const echo = async () =>
      JSON.parse((await request(system.edge, '/kept', { headers })).body) as Echo;
    const seen = async () => {
      const { headers } = await echo();
      return [headers['x-forwarded-proto'], headers['x-envoy-external-address']];
    };
    const spoofed = await echo();
    assert.equal(spoofed.headers['x-forwarded-proto'], 'http');
    assert.notEqual(spoofed.headers['x-envoy-external-address'], '203.0.113.9');
    assert.match(
      spoofed.headers['x-forwarded-for'] ?? '',
      /^203\.0\.113\.9,\s*(?!203\.0\.113\.9)[0-9.]+$/,
    );
    system.write('module.yaml', moduleYaml({ xff_num_trusted_hops: 1 }));
    await until(async () => ((await seen()).join() === 'https,203.0.113.9' ? true : undefined));
  });
});
