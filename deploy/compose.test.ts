import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENVOY_VERSION } from '#envoy/binary.ts';
import { COMPOSE, composeService, INSTANCES, mounted, ROOT } from './testing/compose-file.ts';

const SERVICES = Object.entries(COMPOSE.services);
const ONE_SHOT = 'database-secret';
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Who is in a network that is not internal. */
const OUTSIDE: Readonly<Record<string, readonly string[]>> = {
  edge: ['edge', 'internal'],
  'ext-authz': ['internal', 'providers'],
};

/**
 * The command line that checks compose.yaml: Docker Compose, whose first version did not know all that such files have today,
 * else the program of its library.
 */
const DOCKER_COMPOSE = [
  { version: ['docker', 'compose', 'version', '--short'], check: ['docker', 'compose', 'config', '--quiet'] },
  { version: ['docker-compose', 'version', '--short'], check: ['docker-compose', 'config', '--quiet'] },
  {
    version: ['sh', '-c', 'command -v compose-go >/dev/null && echo 2'],
    check: ['compose-go', 'compose.yaml'],
  },
].find(({ version: [command = '', ...args] }) => {
  const { stdout } = spawnSync(command, args, { encoding: 'utf8' });
  return /^v?[2-9]/.test(stdout ?? '');
})?.check;

test('docker compose takes the file', {
  skip: DOCKER_COMPOSE ? false : 'needs docker compose, version 2 or later, or its library (compose-go)',
}, () => {
  const [command = '', ...args] = DOCKER_COMPOSE ?? [];
  const { status, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
});

test('every image is of one version, ours and Envoy of the versions that the code has', () => {
  for (const [name, { image }] of SERVICES) assert.match(image, /:v?\d+\.\d+\.\d+|^postgres:\d+\.\d+/, name);
  const images = new Set(SERVICES.map(([, { image }]) => image));
  assert.deepEqual([...images].filter(image => /envoy/.test(image)).sort(), [
    `${PACKAGE.name}:${PACKAGE.version}`,
    `envoyproxy/envoy:v${ENVOY_VERSION}`,
  ]);
});

test('every file that a command names is there', () => {
  for (const [name, { command = [] }] of SERVICES) {
    for (const word of command.filter(word => /\.(ts|yaml)$/.test(word))) {
      assert.ok(existsSync(join(ROOT, word)) || existsSync(mounted(word)), `${name}: ${word}`);
    }
  }
});

test('each instance has one proxy, which shares its network and has its name', () => {
  assert.ok(INSTANCES.length >= 2);
  for (const instance of INSTANCES) {
    const { network_mode, networks, ports, command = [] } = composeService(`${instance}-proxy`);
    assert.deepEqual(
      { network_mode, networks, ports },
      { network_mode: `service:${instance}`, networks: undefined, ports: undefined },
    );
    assert.equal(command[command.indexOf('--service-node') + 1], instance);
    assert.equal(composeService(instance).hostname, instance);
  }
});

test('nothing is published but the edge, on the loopback; only ext-authz reaches what is outside', () => {
  const published = SERVICES.filter(([, { ports }]) => ports !== undefined);
  assert.deepEqual(
    published.map(([name, { ports }]) => [name, ports]),
    [['edge', ['127.0.0.1:8080:8080', '127.0.0.1:8443:8443']]],
  );
  for (const [name, { network_mode, networks = [] }] of SERVICES) {
    const joined = Array.isArray(networks) ? networks : Object.keys(networks);
    const expected = OUTSIDE[name] ?? (network_mode === undefined ? ['internal'] : []);
    assert.deepEqual(joined, expected, name);
  }
  assert.equal(COMPOSE.networks.internal?.internal, true);
});

test('every container is bounded, has nothing to write to but its volumes, and no rights of root', () => {
  for (const [name, service] of SERVICES) {
    assert.equal(service.read_only, true, name);
    assert.ok(service.deploy?.resources.limits.memory, name);
    assert.ok(service.user !== undefined || service.build === '.', `${name}: no user`);
  }
});

test('every container that stays is watched and comes back', () => {
  for (const [name, { healthcheck, restart }] of SERVICES.filter(([name]) => name !== ONE_SHOT)) {
    assert.equal(healthcheck?.test[0], 'CMD', name);
    assert.equal(restart, 'unless-stopped', name);
  }
  assert.equal(composeService(ONE_SHOT).restart, 'on-failure');
});

test('a container waits for what is healthy only where that is watched', () => {
  for (const [name, { depends_on = {} }] of SERVICES) {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      const { healthcheck } = composeService(other);
      const possible =
        healthcheck === undefined
          ? ['service_completed_successfully']
          : ['service_healthy', 'service_started'];
      assert.ok(possible.includes(condition), `${name} waits for ${other}: ${condition}`);
    }
  }
});
