import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findTool } from '#launcher/testing/find-tool.ts';
import { ENVOY_VERSION } from '#protos/envoy-api/envoy-files.ts';
import { OF_IMAGE } from '../../release/bundle.ts';
import {
  COMPOSE,
  composeService,
  ENVOYS,
  INSTANCES,
  mounted,
  networkOf,
  probe,
  ROOT,
} from '../testing/compose-file.ts';
import { DRAIN } from '../testing/draining-envoy.ts';

const SERVICES = Object.entries(COMPOSE.services);
const ONE_SHOT = 'database-secret';
const HOLDERS = INSTANCES.map(networkOf);
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const OUR_IMAGE = `${PACKAGE.name}:${PACKAGE.version}`;

/** The networks of the services that are not in `internal` alone. */
const NETWORKS: Readonly<Record<string, readonly string[]>> = {
  edge: ['edge', 'internal'],
  'ext-authz': ['internal', 'store', 'providers'],
  'ratelimit-service': ['internal', 'counters'],
  valkey: ['store'],
  'valkey-counters': ['counters'],
  postgres: ['database'],
  'database-secret': ['database'],
  ...Object.fromEntries(INSTANCES.map(instance => [networkOf(instance), ['internal', 'database']])),
};
const OUTSIDE = ['edge', 'providers'];

const DOCKER_COMPOSE = findTool('docker-compose');

test('docker compose takes the file', { skip: DOCKER_COMPOSE.skip }, () => {
  const options = { cwd: ROOT, encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync(DOCKER_COMPOSE.path, ['config', '--quiet'], options);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
});

test('every image is of one version, ours and Envoy of the versions that the code has', () => {
  for (const [name, { image }] of SERVICES)
    assert.match(image, /:v?\d+\.\d+\.\d+|^postgres:\d+\.\d+/, name);
  const images = new Set(SERVICES.map(([, { image }]) => image));
  assert.deepEqual([...images].filter(image => !/^(postgres|valkey)/.test(image)).sort(), [
    `envoyproxy/envoy:v${ENVOY_VERSION}`,
    OUR_IMAGE,
  ]);
  assert.match(
    readFileSync(join(ROOT, 'Dockerfile'), 'utf8'),
    new RegExp(`^ARG ENVOY=envoyproxy/envoy:v${ENVOY_VERSION}$`, 'm'),
  );
});

test('every file that a command names is there', () => {
  for (const [name, { command = [] }] of SERVICES) {
    for (const word of command.filter(word => /\.(js|yaml|sh)$/.test(word))) {
      const isEntry = OF_IMAGE.includes(word.replace(/js$/, 'ts'));
      assert.ok(isEntry || existsSync(mounted(word)), `${name}: ${word}`);
    }
  }
});

test('an instance and its proxy share a network that neither of them takes along when it ends', () => {
  assert.ok(INSTANCES.length >= 2);
  for (const instance of INSTANCES) {
    for (const name of [instance, `${instance}-proxy`]) {
      const { network_mode, networks, ports } = composeService(name);
      assert.deepEqual(
        { network_mode, networks, ports },
        { network_mode: `service:${networkOf(instance)}`, networks: undefined, ports: undefined },
      );
    }
    const { command = [] } = composeService(`${instance}-proxy`);
    assert.equal(command[command.indexOf('--service-node') + 1], instance);
    const { command: holds, hostname, environment } = composeService(networkOf(instance));
    assert.deepEqual([holds, hostname, environment], [['sleep', 'infinity'], instance, undefined]);
  }
});

test('one service alone builds the image of all, so that the next `up` recreates nothing', () => {
  const builders = SERVICES.filter(([, { build }]) => build !== undefined);
  assert.deepEqual(
    builders.map(([name, { build }]) => [name, build]),
    [['controlplane', '.']],
  );
});

test('every Envoy finishes what is in flight when it is stopped, and has the time for it', () => {
  assert.equal(ENVOYS.length, INSTANCES.length + 1);
  const script = readFileSync(mounted('/etc/gateway/run-envoy.sh'), 'utf8');
  const [, seconds] = /drain-envoy\.sh 0 (\d+)$/m.exec(script) ?? [];
  for (const [, { command = [], stop_grace_period = '', volumes = [] }] of ENVOYS) {
    assert.deepEqual(command.slice(0, 2), ['bash', '/etc/gateway/run-envoy.sh']);
    assert.ok(volumes.includes(`.${DRAIN.slice(ROOT.length)}:/usr/local/bin/drain-envoy.sh:ro`));
    assert.match(stop_grace_period, /^\d+s$/);
    assert.ok(Number.parseInt(stop_grace_period, 10) >= Number(seconds) + 10);
  }
});

test('what an Envoy needs is stopped after it: the edge waits for all when it starts', () => {
  const before = (name: string): readonly string[] =>
    Object.keys(composeService(name).depends_on ?? {}).flatMap(other => [other, ...before(other)]);
  const needed = new Set(before('edge'));
  const others = SERVICES.map(([name]) => name).filter(
    name => name !== 'edge' && !needed.has(name),
  );
  assert.deepEqual(others, []);
});

test('only the edge is published, on the loopback, and no service is in a network that it does not need', () => {
  const published = SERVICES.filter(([, { ports }]) => ports !== undefined);
  assert.deepEqual(
    published.map(([name, { ports }]) => [name, ports]),
    [['edge', ['127.0.0.1:8080:8080', '127.0.0.1:8443:8443']]],
  );
  for (const [name, { network_mode, networks = [] }] of SERVICES) {
    const joined = Array.isArray(networks) ? networks : Object.keys(networks);
    const expected = NETWORKS[name] ?? (network_mode === undefined ? ['internal'] : []);
    assert.deepEqual(joined, expected, name);
  }
  for (const [name, { internal }] of Object.entries(COMPOSE.networks))
    assert.notEqual(internal === true, OUTSIDE.includes(name), name);
});

test('every container is bounded, has nothing to write to but its volumes, and no rights of root', () => {
  for (const [name, service] of SERVICES) {
    assert.equal(service.read_only, true, name);
    assert.ok(service.deploy?.resources.limits.memory, name);
    assert.ok(service.user !== undefined || service.image === OUR_IMAGE, `${name}: no user`);
  }
});

/** The image has a check of our services. */
const isWatched = (name: string) =>
  probe(name)[0] === 'CMD' || (composeService(name).image === OUR_IMAGE && name !== ONE_SHOT);

test('every container that stays comes back, and is watched if it does anything', () => {
  for (const [name, { restart }] of SERVICES.filter(([name]) => name !== ONE_SHOT)) {
    if (!HOLDERS.includes(name)) assert.ok(isWatched(name), name);
    assert.equal(restart, 'unless-stopped', name);
  }
  assert.equal(composeService(ONE_SHOT).restart, 'on-failure');
});

test('a container waits for what is healthy only where that is watched', () => {
  for (const [name, { depends_on = {} }] of SERVICES) {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      const possible = isWatched(other)
        ? ['service_healthy', 'service_started']
        : [
            'service_completed_successfully',
            ...(HOLDERS.includes(other) ? ['service_started'] : []),
          ];
      assert.ok(possible.includes(condition), `${name} waits for ${other}: ${condition}`);
    }
  }
});

test('counters and sessions are apart: full, counters go, and sessions stay', () => {
  const storeOf = (service: string) => {
    const { hostname } = new URL(String(composeService(service).environment?.REDIS_URL));
    return [hostname, composeService(hostname).command?.slice(-2)];
  };
  assert.deepEqual(storeOf('ratelimit-service'), [
    'valkey-counters',
    ['--maxmemory-policy', 'allkeys-lfu'],
  ]);
  assert.deepEqual(storeOf('ext-authz'), ['valkey', ['--maxmemory-policy', 'noeviction']]);
});
