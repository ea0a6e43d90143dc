import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import pino from 'pino';
import { readConfig } from '#controlplane/config.ts';
import { controlPlane } from '#controlplane/control-plane.ts';
import { fileLastGoodStore } from '#controlplane/rollout/last-good-store.ts';
import { until } from '#envoy/e2e/until.ts';
import { serve } from '#grpc/serve.ts';
import { after } from '#process/after.ts';
import { CLUSTER } from '#protos/type-url.ts';
import { collect } from '#resources/parse/collect.ts';
import { Parser, parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { DISCOVERY } from '#xds/discovery-methods.ts';
import { DiscoveryChannel } from '#xds/testing/discovery-client.ts';
import { createMetrics } from './metrics.ts';
import { unknownGroupProblems } from './unknown-groups.ts';

const KNOWN = new Set(['edge', 'ext-authz', 'ratelimit-service', 'sds', 'user-service-1']);

describe('proxies of node groups without configuration', () => {
  test('are named, with what to do, once for each group', () => {
    const streams = [
      { node: 'b', group: 'egde' },
      { node: 'a', group: 'egde' },
      { node: 'a', group: 'egde' },
      { node: 'edge', group: 'edge' },
    ];
    const [problem, ...others] = unknownGroupProblems(streams, KNOWN);
    assert.deepEqual(others, []);
    assert.deepEqual([problem?.severity, problem?.kind, problem?.name], ['warning', 'Envoy', 'a']);
    const { message = '' } = problem ?? {};
    assert.match(
      message,
      /^its node group "egde" has no configuration, so it is sent nothing: set node\.cluster/,
    );
    assert.match(
      message,
      /\(edge, user-service-1\), or write a Mapping or ProxyConfig with node_group "egde"/,
    );
    assert.match(message, /\(and 1 more\)$/);
  });

  test('are bounded, however many strangers come and whatever they are called', () => {
    const streams = Array.from({ length: 1_000 }, (_, i) => ({
      node: 'n'.repeat(1_000),
      group: `${i}${'😀'.repeat(400)}`,
    }));
    const many = new Set(Array.from({ length: 1_000 }, (_, i) => `group-${i}`));
    const problems = unknownGroupProblems(streams, many);
    assert.equal(problems.length, 20);
    assert.ok(problems.every(({ message, name }) => message.length < 1_000 && name.length <= 100));
  });
});

test('a proxy of an unknown node group is in the status and the log, until it has configuration', async t => {
  const state = mkdtempSync(join(tmpdir(), 'gateway-state-'));
  t.after(() => rmSync(state, { recursive: true, force: true }));
  const logged: string[] = [];
  const plane = await controlPlane({
    config: readConfig({ STATE: state }),
    parser: new Parser(DEFAULT_PARSE_OPTIONS),
    store: fileLastGoodStore(join(state, 'last-good.json')),
    metrics: createMetrics(() => plane.status()),
    log: pino({}, { write: line => logged.push(line) }),
    now: Date.now,
    after,
  });
  const { services } = plane;
  const served = await serve({ host: '127.0.0.1', port: 0, services, ...DISCOVERY });
  const channel = new DiscoveryChannel(served.port);
  t.after(async () => {
    channel.close();
    await plane.stop();
    await served.stop(100);
  });
  const read = (yaml: string) => {
    const written = collect([parseFile('in.yaml', yaml, DEFAULT_PARSE_OPTIONS)]);
    plane.read({ written, problems: written.problems, objects: [], gatewayApi: [] });
  };
  const about = () => plane.status().problems.filter(({ kind }) => kind === 'Envoy');
  read('');
  const client = channel.open('DeltaAggregatedResources');
  client.send({ node: { id: 'proxy-1', cluster: 'egde' }, type_url: CLUSTER });
  await until(() => logged.find(line => line.includes('has no configuration')));
  assert.deepEqual(
    about().map(({ name }) => name),
    ['proxy-1'],
  );
  assert.deepEqual(
    plane.status().proxies.map(({ group, standing }) => [group, standing]),
    [['egde', 'waiting']],
  );
  read(
    'apiVersion: gateway.internal/v2\nkind: ProxyConfig\nmetadata: {name: a}\nspec: {node_group: egde, listener: {port: 1}}\n',
  );
  assert.deepEqual(about(), []);
});
