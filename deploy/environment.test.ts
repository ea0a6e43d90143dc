import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig as readControlplane } from '../controlplane/config.ts';
import { readConfig as readExtAuthz } from '../ext-authz/config.ts';
import { readConfig as readRateLimit } from '../ratelimit-service/config.ts';
import { readConfig as readSds } from '../sds/config.ts';
import { parseInstancesFile } from '../sds/instances/parse-instances-file.ts';
import { readConfig as readUserService } from '../user-service/config.ts';
import {
  COMPOSE,
  composeService,
  INSTANCES,
  mounted,
  portOf,
  ROOT,
  variable,
} from './testing/compose-file.ts';

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
      Object.keys(environment).filter(name => !asked.has(name)),
      [],
    );
  });
}

test('each probe asks where its service listens', () => {
  const probe = (service: string) => composeService(service).healthcheck?.test.join(' ') ?? '';
  assert.match(
    probe('controlplane'),
    new RegExp(`127\\.0\\.0\\.1:${portOf('controlplane', 'HTTP_ADDRESS')}/readyz`),
  );
  assert.match(probe('sds'), new RegExp(`127\\.0\\.0\\.1:${portOf('sds', 'ADDRESS')}/readyz`));
  for (const service of ['ratelimit-service', 'ext-authz']) {
    assert.match(probe(service), new RegExp(`127\\.0\\.0\\.1:${portOf(service, 'ADDRESS')}/readyz`));
  }
  assert.match(
    probe('edge'),
    new RegExp(`/dev/tcp/127\\.0\\.0\\.1/${portOf('controlplane', 'EDGE_ADDRESS')}$`),
  );
  for (const instance of INSTANCES) {
    assert.match(probe(instance), new RegExp(`127\\.0\\.0\\.1:${variable(instance, 'PORT')}/user/health`));
  }
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

test('ext-authz gets the secrets of its Filters over a network that leads nowhere', () => {
  assert.equal(readControlplane(composeService('controlplane').environment ?? {}).plaintextSecrets, true);
  assert.deepEqual(composeService('controlplane').networks, ['internal']);
  assert.equal(COMPOSE.networks.internal?.internal, true);
});

test('the instances file names the alias that all instances have', () => {
  const file = readFileSync(mounted(variable('sds', 'INSTANCES_FILE')), 'utf8');
  const { services, problems } = parseInstancesFile(file);
  assert.deepEqual(problems, []);
  assert.deepEqual(services?.get('user-service'), [{ dns: 'user-service', port: 8000 }]);
  for (const instance of INSTANCES) {
    assert.deepEqual(composeService(instance).networks, { internal: { aliases: ['user-service'] } });
  }
});

test('sds waits until DNS lists every instance', () => {
  const { depends_on = {} } = composeService('sds');
  assert.deepEqual(Object.keys(depends_on), INSTANCES);
});

test('what the README says about processes are the commands', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  for (const service of ['controlplane', 'sds', 'ratelimit-service', 'ext-authz', ...INSTANCES]) {
    const main = composeService(service).command?.at(-1);
    assert.ok(readme.includes(`\`node ${main}\``), main);
  }
});
