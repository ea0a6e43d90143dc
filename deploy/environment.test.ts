import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BUILT_IN as BUILT_IN_RATE_LIMIT } from '#controlplane/compile/rate-limits/rate-limit-filter.ts';
import { readConfig as readControlplane } from '#controlplane/config.ts';
import { readConfig as readExtAuthz } from '#ext-authz/config.ts';
import { readConfig as readRateLimit } from '#ratelimit-service/config.ts';
import { readConfig as readSds } from '../sds/config.ts';
import { parseInstancesFile } from '../sds/instances/parse-instances-file.ts';
import { readConfig as readUserService } from '../user-service/config.ts';
import {
  COMPOSE,
  composeService,
  INSTANCES,
  LIBC_VARIABLE,
  mounted,
  networkOf,
  portOf,
  probe,
  ROOT,
  variable,
} from './testing/compose-file.ts';

const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');

type Environment = Readonly<Record<string, string | undefined>>;

const READERS: readonly { service: string; read(env: Environment): object }[] = [
  { service: 'controlplane', read: readControlplane },
  { service: 'sds', read: readSds },
  { service: 'ratelimit-service', read: readRateLimit },
  { service: 'ext-authz', read: readExtAuthz },
  ...INSTANCES.map(service => ({ service, read: readUserService })),
];

for (const { service, read } of READERS) {
  test(`${service} understands each variable that compose.yaml sets`, () => {
    const { environment = {} } = composeService(service);
    const asked = new Set<string | symbol>();
    const recorder = new Proxy(environment, {
      get(target, name) {
        asked.add(name);
        return Reflect.get(target, name);
      },
    });
    read(recorder);
    assert.deepEqual(
      Object.keys(environment).filter(name => !asked.has(name) && name !== LIBC_VARIABLE),
      [],
    );
  });
}

test('each probe asks where its service listens', () => {
  const asks = (service: string, address: string) =>
    assert.ok(probe(service).join(' ').includes(address), service);
  asks('edge', `/dev/tcp/127.0.0.1/${portOf('controlplane', 'EDGE_ADDRESS')}`);
  for (const instance of INSTANCES)
    asks(instance, `127.0.0.1:${variable(instance, 'PORT')}/user/health`);
  // The others have the check of the image, which asks HTTP_ADDRESS, or this.
  const { http } = readControlplane({});
  assert.ok(DOCKERFILE.includes(`HTTP_ADDRESS || '${http.host}:${http.port}'}/readyz`));
  for (const service of ['controlplane', 'sds', 'ratelimit-service', 'ext-authz'])
    assert.deepEqual([probe(service), portOf(service, 'HTTP_ADDRESS') > 0], [[], true]);
});

test('the store of rate limits has half of the time that the edge waits for them, not less: what is not counted passes', () => {
  const { storeTimeoutMs } = readRateLimit(composeService('ratelimit-service').environment ?? {});
  assert.equal(storeTimeoutMs, BUILT_IN_RATE_LIMIT.timeout_ms / 2);
});

test('the edge publishes the port that it listens on', () => {
  const [published] = composeService('edge').ports ?? [];
  assert.equal(published?.split(':').at(-1), String(portOf('controlplane', 'EDGE_ADDRESS')));
});

test('an instance listens on the loopback only', () => {
  for (const instance of INSTANCES) assert.equal(variable(instance, 'HOST'), '127.0.0.1');
});

test('the control plane and the proxies look for sds where it is', () => {
  assert.equal(variable('controlplane', 'SDS_ADDRESS'), `sds:${portOf('sds', 'ADDRESS')}`);
});

for (const [service, name] of [
  ['ratelimit-service', 'RATELIMIT_ADDRESS'],
  ['ext-authz', 'EXT_AUTHZ_ADDRESS'],
] as const) {
  test(`the control plane and ${service} look for each other where they are`, () => {
    assert.equal(variable('controlplane', name), `${service}:${portOf(service, 'ADDRESS')}`);
    const xds = `controlplane:${portOf('controlplane', 'XDS_ADDRESS')}`;
    assert.equal(variable(service, 'XDS_ADDRESS'), xds);
  });
}

/** The owners of identities: the services by their names, the Envoys by their node groups. */
const IDENTITIES = new Map([
  ...['controlplane', 'sds', 'ratelimit-service', 'ext-authz', 'edge'].map(
    name => [name, name] as const,
  ),
  ...INSTANCES.map(name => [`${name}-proxy`, 'user-service'] as const),
]);

test('the gateway sends nothing over the network in plain text', () => {
  for (const service of ['controlplane', 'sds', 'ratelimit-service', 'ext-authz'])
    assert.match(variable(service, 'HTTP_ADDRESS'), /^127\.0\.0\.1:/);
  const { plaintextSecrets, hopTls } = readControlplane(
    composeService('controlplane').environment ?? {},
  );
  assert.deepEqual({ plaintextSecrets, hopTls }, { plaintextSecrets: false, hopTls: true });
  for (const service of ['controlplane', 'ratelimit-service', 'ext-authz'])
    assert.equal(variable(service, 'TLS_FOLDER'), '/run/identity');
  assert.equal(variable('sds', 'TLS_FOLDER'), `${variable('sds', 'IDENTITY_FOLDER')}/sds`);
});

test('sds writes an identity for each, and nobody can read that of another, or write one', () => {
  assert.deepEqual(
    variable('sds', 'IDENTITIES').split(',').sort(),
    [...new Set(IDENTITIES.values())].sort(),
  );
  const written = (composeService('sds').volumes ?? []).filter(volume =>
    volume.startsWith('identity-'),
  );
  const groups = variable('sds', 'IDENTITIES').split(',');
  assert.deepEqual(
    written,
    groups.map(group => `identity-${group}:${variable('sds', 'IDENTITY_FOLDER')}/${group}`),
  );
  for (const [name, { volumes = [] }] of Object.entries(COMPOSE.services)) {
    const group = IDENTITIES.get(name);
    const expected = group === undefined ? [] : [`identity-${group}:/run/identity:ro`];
    if (name !== 'sds')
      assert.deepEqual(
        volumes.filter(volume => volume.startsWith('identity-')),
        expected,
        name,
      );
  }
});

test('an Envoy is the user who owns its identity', () => {
  // `node` in the image of Node.js
  for (const { image, user } of Object.values(COMPOSE.services))
    if (image.startsWith('envoyproxy/')) assert.equal(user, '1000:1000');
});

test('the image has a folder for each identity that the user can write to', () => {
  const script = readFileSync(join(ROOT, 'deploy/image/make-system.sh'), 'utf8');
  const [, names = ''] = /for name in ([\w -]+); do\n.*identities/.exec(script) ?? [];
  assert.deepEqual(names.split(' ').sort(), variable('sds', 'IDENTITIES').split(',').sort());
});

test('the instances file names the alias that all instances have', () => {
  const file = readFileSync(mounted(variable('sds', 'INSTANCES_FILE')), 'utf8');
  const { services, problems } = parseInstancesFile(file);
  assert.deepEqual(problems, []);
  assert.deepEqual(services?.get('user-service'), [{ dns: 'user-service', port: 8000 }]);
  for (const instance of INSTANCES) {
    const { networks } = composeService(networkOf(instance));
    assert.deepEqual(networks, {
      internal: { aliases: ['user-service'], priority: 1 },
      database: {},
    });
  }
});

test('sds waits until DNS lists every instance', () => {
  const { depends_on = {} } = composeService('sds');
  assert.deepEqual(Object.keys(depends_on), INSTANCES.map(networkOf));
});

test('what docs/reference/environment.md says about processes are the commands', () => {
  const page = readFileSync(join(ROOT, 'docs/reference/environment.md'), 'utf8');
  for (const service of ['controlplane', 'sds', 'ratelimit-service', 'ext-authz', ...INSTANCES]) {
    const main = composeService(service).command?.at(-1);
    assert.ok(page.includes(`\`node ${main}\``), main);
  }
});
