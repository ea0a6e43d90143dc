import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { credentials } from '@grpc/grpc-js';
import pino from 'pino';
import { readConfig } from '#controlplane/config.ts';
import { controlPlane } from '#controlplane/control-plane.ts';
import { fileLastGoodStore } from '#controlplane/rollout/last-good-store.ts';
import { startReporter } from '#controlplane/testing/start-reporter.ts';
import { statusWhen } from '#envoy/e2e/status-when.ts';
import { until } from '#envoy/e2e/until.ts';
import { serve } from '#grpc/serve.ts';
import { changingTls, testAuthority } from '#grpc/testing/test-authority.ts';
import type { TlsServerOptions } from '#grpc/tls.ts';
import { after } from '#process/after.ts';
import type { ReportedFinding } from '#process/report.ts';
import { collect } from '#resources/parse/collect.ts';
import { Parser, parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { DISCOVERY } from '#xds/discovery-methods.ts';
import { createMetrics } from './metrics.ts';

const FINDING: ReportedFinding = {
  resource: 'Filter/default/login',
  field: 'spec.JWT.jwksURI',
  severity: 'error',
  message: 'there is no key set',
  outOfService: false,
};

const LOGIN = `# one line above
apiVersion: gateway.internal/v2
kind: Filter
metadata: {name: login}
spec: {JWT: {jwksURI: "https://keys.example/"}}
`;

const NOON = Date.UTC(2026, 0, 1, 12);
const TEXT =
  'Filter default/login (in.yaml:5, spec.JWT.jwksURI): there is no key set. Since 2026-01-01T12:00:00Z';

async function startPlane(t: TestContext, tls?: TlsServerOptions) {
  const state = mkdtempSync(join(tmpdir(), 'gateway-state-'));
  t.after(() => rmSync(state, { recursive: true, force: true }));
  const logged: string[] = [];
  const plane = await controlPlane({
    config: readConfig({ STATE: state }),
    parser: new Parser(DEFAULT_PARSE_OPTIONS),
    store: fileLastGoodStore(join(state, 'last-good.json')),
    metrics: createMetrics(() => plane.status()),
    log: pino({ level: 'info' }, { write: line => void logged.push(JSON.parse(line).msg) }),
    now: () => NOON,
    after,
  });
  const { services } = plane;
  const served = await serve({ host: '127.0.0.1', port: 0, services, ...DISCOVERY, tls });
  t.after(async () => {
    await plane.stop();
    await served.stop(100);
  });
  const read = (yaml: string) => {
    const { problems, ...written } = collect([parseFile('in.yaml', yaml, DEFAULT_PARSE_OPTIONS)]);
    plane.read({ written, problems, objects: [], gatewayApi: [] });
  };
  const said = () => plane.status().problems.map(({ message }) => message);
  const says = (...messages: readonly string[]) =>
    statusWhen(
      async () => plane.status(),
      ({ problems }) => problems.map(({ message }) => message).join() === messages.join(),
    );
  return { plane, port: served.port, read, said, says, logged };
}

test('what services find is a Problem with file and line, once, until none of them finds it', async t => {
  const { plane, port, read, says, logged } = await startPlane(t);
  read(LOGIN);
  const [one, two] = [
    startReporter(t, `127.0.0.1:${port}`, 'ext-authz'),
    startReporter(t, `127.0.0.1:${port}`, 'ext-authz'),
  ];
  one.report(FINDING);
  two.report(FINDING);
  const { problems } = await says(FINDING.message);
  assert.deepEqual(problems[0], {
    ...{
      severity: 'error',
      kind: 'Filter',
      namespace: 'default',
      name: 'login',
      file: 'in.yaml',
      line: 5,
    },
    ...{ field: FINDING.field, message: FINDING.message },
    ...{ since: new Date(NOON).toISOString(), reported: true },
  });
  assert.deepEqual([...(plane.objectFacts()?.outOfService ?? [])], []);
  one.report({ ...FINDING, outOfService: true });
  await until(() => (plane.objectFacts()?.outOfService.has(FINDING.resource) ? true : undefined));
  one.report();
  two.close();
  await says();
  const about = logged.filter(line => line.includes('there is no key set'));
  assert.deepEqual(about, [TEXT, `fixed: ${TEXT}`]);
});

test('a service that was there before the resources were read is heard when they are', async t => {
  const { plane, port, read, says, logged } = await startPlane(t);
  const service = startReporter(t, `127.0.0.1:${port}`, 'ext-authz');
  service.report(FINDING);
  await until(() => (plane.status().proxies.length === 1 ? true : undefined));
  read(LOGIN);
  await says(FINDING.message);
  assert.ok(logged.includes(TEXT));
  assert.deepEqual(
    logged.filter(line => line.startsWith('Filter default/login:')),
    [],
    'nothing was told without its place',
  );
});

test('what is reported of a resource that is removed is over, and so it stays when the service takes it back', async t => {
  const { plane, port, read, says, said, logged } = await startPlane(t);
  read(LOGIN);
  const service = startReporter(t, `127.0.0.1:${port}`, 'ext-authz');
  service.report(FINDING);
  await says(FINDING.message);
  read('# nothing');
  assert.deepEqual(said(), []);
  service.report({ ...FINDING, outOfService: true });
  await until(() => (plane.objectFacts()?.outOfService.has(FINDING.resource) ? true : undefined));
  service.report();
  await until(() => (plane.objectFacts()?.outOfService.size === 0 ? true : undefined));
  assert.deepEqual(said(), []);
  const about = logged.filter(line => line.includes('there is no key set'));
  assert.deepEqual(about, [TEXT, `fixed: ${TEXT}`]);
});

test('neither an Envoy nor another service is heard', async t => {
  const { port, read, said } = await startPlane(t);
  read(LOGIN);
  const peers = ['edge', 'user-service', 'stranger'].map(group =>
    startReporter(t, `127.0.0.1:${port}`, group),
  );
  for (const peer of peers) {
    peer.report(FINDING);
    assert.match(await until(() => peer.disconnects[0]), /this group does not report/);
  }
  assert.ok(!said().includes(FINDING.message));
  startReporter(t, `127.0.0.1:${port}`, 'ext-authz').report(FINDING);
  await until(() => said().includes(FINDING.message) || undefined);
  for (const { disconnects } of peers)
    assert.equal(disconnects.length, 1, 'its next stream stays, and brings what it subscribes to');
});

test('where certificates say who somebody is, nobody reports in the name of another', async t => {
  const authority = await testAuthority();
  const identity = (group: string) => authority.issue(`spiffe://gateway.internal/group/${group}`);
  const { port, read, says, said } = await startPlane(
    t,
    changingTls(await identity('controlplane')).options,
  );
  read(LOGIN);
  const report = async (own: string, called: string) => {
    const { ca, certificate, key } = await identity(own);
    const [roots, pair] = [Buffer.from(ca), [Buffer.from(key), Buffer.from(certificate)] as const];
    const tls = credentials.createSsl(roots, ...pair, { checkServerIdentity: () => undefined });
    const peer = startReporter(t, `127.0.0.1:${port}`, called, tls);
    peer.report(FINDING);
    return peer;
  };
  for (const [own, called, reason] of [
    ['edge', 'ext-authz', /certificate is of edge: it is not given the configuration of ext-authz/],
    ['ratelimit-service', 'sds', /certificate is of ratelimit-service: /],
    ['sds', 'ext-authz', /certificate is of sds: /],
    ['edge', 'edge', /this group does not report/],
  ] as const) {
    const peer = await report(own, called);
    assert.match(await until(() => peer.disconnects[0]), reason);
    peer.close();
  }
  assert.deepEqual(said(), []);
  await report('ext-authz', 'ext-authz');
  await says(FINDING.message);
});
