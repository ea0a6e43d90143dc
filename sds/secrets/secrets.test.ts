import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { KeyPair } from '#certificates/authority/key-pair.ts';
import { until } from '#envoy/e2e/until.ts';
import { writeWhole } from '#files/testing/write-whole.ts';
import { decodeAny } from '#protos/decode.ts';
import type { Any } from '#protos/encode.ts';
import { SECRET } from '#protos/type-url.ts';
import { openStream } from '../testing/discovery-client.ts';
import {
  keyPairContent,
  servedSecret,
  startSecretsServer,
  testAuthority,
} from '../testing/test-secrets.ts';

const SDS = 'envoy.service.secret.v3.SecretDiscoveryService';
const ADS = 'envoy.service.discovery.v3.AggregatedDiscoveryService';
const BUILT_IN = ['gateway/identity', 'gateway/roots'];

type Resource = { readonly name?: string; readonly version?: string; readonly resource?: Any };

async function setUp(t: TestContext, options?: Parameters<typeof startSecretsServer>[2]) {
  const authority = await testAuthority(t);
  const server = await startSecretsServer(t, authority, options);
  const ask = (
    cluster: string,
    names: readonly string[],
    service = SDS,
    method = 'DeltaSecrets',
  ) => {
    const stream = openStream(t, server.port, service, method);
    stream.send({
      node: { id: 'test', cluster },
      type_url: SECRET,
      resource_names_subscribe: names,
    });
    const ack = (nonce: string) => stream.send({ type_url: SECRET, response_nonce: nonce });
    const next = async () => {
      const { nonce, resources } = await stream.next();
      ack(nonce);
      return resources as readonly Resource[];
    };
    return { ...stream, next };
  };
  return { authority, ...server, ask };
}

function names(resources: readonly Resource[]): readonly (string | undefined)[] {
  return resources.map(({ name }) => name).toSorted();
}

function chainOf(resource: Resource | undefined): string {
  const json = decodeAny(resource?.resource as Any) as {
    tls_certificate?: { certificate_chain?: { inline_string?: string } };
  };
  return json.tls_certificate?.certificate_chain?.inline_string ?? '';
}

for (const [service, method] of [
  [SDS, 'DeltaSecrets'],
  [ADS, 'DeltaAggregatedResources'],
] as const) {
  test(`${method} brings a proxy its group's certificate, the roots, and what it may have`, async t => {
    const it = await setUp(t);
    const pair = await it.authority.server(['a.test']);
    assert.equal(it.say([servedSecret('a', ['edge'], keyPairContent(pair))]), null);
    const stream = it.ask('edge', [...BUILT_IN, 'a'], service, method);
    assert.deepEqual(names(await stream.next()), ['a', ...BUILT_IN]);
  });
}

test('StreamSecrets brings the same by state of the world', async t => {
  const it = await setUp(t);
  const stream = openStream(t, it.port, SDS, 'StreamSecrets');
  stream.send({ type_url: SECRET, resource_names: BUILT_IN });
  assert.equal((await stream.next()).resources.length, 2);
});

test('a proxy of another group that asks by name gets silence, and no removal', async t => {
  const it = await setUp(t);
  it.say([servedSecret('a', ['edge'], keyPairContent(await it.authority.server(['a.test'])))]);
  const stream = it.ask('user-service', ['a', 'unknown', 'gateway/roots']);
  assert.deepEqual(names(await stream.next()), ['gateway/roots']);
  it.say([servedSecret('a', ['edge'], keyPairContent(await it.authority.server(['a.test'])))]);
  it.say([
    servedSecret('b', ['user-service'], keyPairContent(await it.authority.server(['b.test']))),
  ]);
  stream.send({ type_url: SECRET, resource_names_subscribe: ['b'] });
  assert.deepEqual(names(await stream.next()), ['b']);
  assert.equal(stream.waiting.length, 0);
});

test('who subscribes to everything gets nothing', async t => {
  const it = await setUp(t);
  for (const subscribed of [['*'], []]) {
    const stream = it.ask('edge', subscribed);
    stream.send({ type_url: SECRET, resource_names_subscribe: ['gateway/roots'] });
    assert.deepEqual(names(await stream.next()), ['gateway/roots']);
  }
});

test('10,000 names that nobody knows cost no answer', async t => {
  const it = await setUp(t);
  const many = Array.from({ length: 10_000 }, (_, at) => `name-${at}`);
  const stream = it.ask('edge', [...many, 'gateway/identity']);
  assert.deepEqual(names(await stream.next()), ['gateway/identity']);
});

const STRANGE = [
  '',
  '*',
  'Edge',
  '../edge',
  'a b',
  'x'.repeat(64),
  'edge\n',
  'ü',
  'controlplane',
  'sds',
  'ext-authz',
];

for (const cluster of STRANGE) {
  test(`a proxy of the group ${JSON.stringify(cluster).slice(0, 20)} is told that it gets no secrets`, async t => {
    const it = await setUp(t);
    it.ask(cluster, BUILT_IN);
    const line = await until(() => /.*no secrets for this client.*/.exec(it.logged())?.[0]);
    assert.match(
      JSON.parse(line).reason,
      /want the name of a node group|is a service of the gateway/,
    );
    assert.deepEqual(JSON.parse(await it.get('/status')).secrets.identities, {});
  });
}

test('groups without a proxy are forgotten, so that their number is bounded', async t => {
  const it = await setUp(t);
  for (let at = 0; at < 20; at += 1) {
    const stream = it.ask(`group-${at}`, BUILT_IN);
    await stream.next();
    stream.end();
  }
  await until(async () =>
    Object.keys(JSON.parse(await it.get('/status')).secrets.identities).length === 0
      ? true
      : undefined,
  );
  await it.ask('group-0', BUILT_IN).next();
});

test('one group more than the bound gets nothing, those that are there go on', async t => {
  const it = await setUp(t, { mostGroups: 2 });
  for (const group of ['a', 'b', 'a'])
    assert.equal((await it.ask(group, BUILT_IN).next()).length, 2);
  it.ask('c', BUILT_IN);
  await until(() => (/there are 2 node groups already/.test(it.logged()) ? true : undefined));
});

test('one who comes back is sent his secrets again, whatever versions he says to have', async t => {
  const it = await setUp(t);
  const first = await it.ask('edge', BUILT_IN).next();
  const versions = Object.fromEntries(first.map(({ name, version }) => [name, version]));
  const again = openStream(t, it.port, SDS, 'DeltaSecrets');
  again.send({
    type_url: SECRET,
    resource_names_subscribe: BUILT_IN,
    initial_resource_versions: versions,
  });
  assert.equal((await again.next()).resources.length, 2);
});

test('a broken pair is rejected once, in log, status and metrics, and the one before stays', async t => {
  const it = await setUp(t);
  const [good, other] = [
    await it.authority.server(['a.test']),
    await it.authority.server(['a.test']),
  ];
  it.say([servedSecret('a', ['edge'], keyPairContent(good))]);
  const stream = it.ask('edge', ['a']);
  assert.equal(chainOf((await stream.next())[0]), good.certificate);
  const broken = keyPairContent({ ...good, key: other.key });
  it.say([servedSecret('a', ['edge'], broken)]);
  it.say([servedSecret('a', ['edge'], broken)]);
  const { problem } = JSON.parse(await it.get('/status')).secrets.served.a;
  assert.equal(problem, 'the private key does not fit the certificate');
  assert.match(await it.get('/metrics'), /^sds_secrets_rejected_total 1$/m);
  assert.match(await it.get('/metrics'), /^sds_secrets_broken 1$/m);
  it.say([servedSecret('a', ['edge'], keyPairContent(other))]);
  assert.equal(chainOf((await stream.next())[0]), other.certificate);
  assert.equal(JSON.parse(await it.get('/status')).secrets.served.a.problem, undefined);
});

test('a chain behind a malformed block is rejected alone', async t => {
  const it = await setUp(t);
  const pair = await it.authority.server(['a.test']);
  const certificate = `-----BEGIN OTHER-----\n!\n-----END OTHER-----\n${pair.certificate}`;
  const broken = servedSecret('a', ['edge'], keyPairContent({ ...pair, certificate }));
  assert.equal(it.say([broken, servedSecret('b', ['edge'], keyPairContent(pair))]), null);
  const { a, b } = JSON.parse(await it.get('/status')).secrets.served;
  assert.match(a.problem, /^the certificate chain cannot be used: something before certificate 1/);
  assert.equal(b.problem, undefined);
});

for (const [what, change] of [
  ['the same', (pair: KeyPair) => pair],
  ['rejected', (pair: KeyPair) => ({ ...pair, key: '' })],
] as const) {
  test(`a group that may have a secret since now is sent it, though its content is ${what}`, async t => {
    const it = await setUp(t);
    const pair = await it.authority.server(['a.test']);
    it.say([servedSecret('a', ['edge'], keyPairContent(pair))]);
    const stream = it.ask('user-service', ['a', 'gateway/roots']);
    assert.deepEqual(names(await stream.next()), ['gateway/roots']);
    it.say([servedSecret('a', ['edge', 'user-service'], keyPairContent(change(pair)))]);
    const [sent] = await stream.next();
    assert.deepEqual([sent?.name, chainOf(sent)], ['a', pair.certificate]);
  });
}

test('no key is in log, status or metrics, and versions of one secret differ by process', async t => {
  const it = await setUp(t);
  const pair = await it.authority.server(['a.test']);
  it.say([servedSecret('a', ['edge'], keyPairContent(pair))]);
  const other = await it.authority.server(['a.test']);
  it.say([servedSecret('b', ['edge'], keyPairContent({ ...pair, key: other.key }))]);
  await it.ask('edge', ['a', ...BUILT_IN]).next();
  const told = it.logged() + (await it.get('/status')) + (await it.get('/metrics'));
  assert.doesNotMatch(told, /PRIVATE KEY/);
  for (const { key } of [pair, other])
    for (const line of key.split('\n').slice(1, -2)) assert.ok(!told.includes(line));
});

test('what the control plane takes away is removed from who may have it, not told to who has it', async t => {
  const it = await setUp(t);
  const content = keyPairContent(await it.authority.server(['a.test']));
  it.say([servedSecret('a', ['edge'], content)]);
  const stream = it.ask('edge', ['a']);
  await stream.next();
  it.say([], ['a']);
  assert.equal(JSON.parse(await it.get('/status')).secrets.served.a, undefined);
  stream.send({ type_url: SECRET, resource_names_subscribe: ['gateway/roots'] });
  assert.deepEqual(names(await stream.next()), ['gateway/roots']);
});

test('a secret without content, or under another name, is rejected by name', async t => {
  const it = await setUp(t);
  for (const content of [{}, { issued: { hosts: [] } }]) {
    assert.match(it.say([servedSecret('a', ['edge'], content)]) ?? '', /^a has no content$/);
  }
  const wrong = { ...servedSecret('a', ['edge'], { trusted_ca: '' }), name: 'b' };
  assert.match(it.say([wrong]) ?? '', /^b is called a in its message$/);
});

test('the authority issues certificates for hosts', async t => {
  const it = await setUp(t);
  it.say([servedSecret('hosts', ['edge'], { issued: { hosts: ['localhost', '127.0.0.1'] } })]);
  const [resource] = await it.ask('edge', ['hosts']).next();
  assert.match(chainOf(resource), /BEGIN CERTIFICATE/);
  const { kind, serial } = JSON.parse(await it.get('/status')).secrets.served.hosts;
  assert.equal(kind, 'issued');
  assert.match(serial, /^[0-9a-f]{32}$/);
});

test('watched files are followed; a broken pair and a missing file change nothing', async t => {
  const it = await setUp(t);
  const folder = mkdtempSync(join(tmpdir(), 'pair-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const files = { certificate_chain: join(folder, 'crt'), private_key: join(folder, 'key') };
  const write = ({ certificate, key }: KeyPair) => {
    writeWhole(files.certificate_chain, certificate);
    writeWhole(files.private_key, key);
  };
  const pairs = [
    await it.authority.server(['a.test']),
    await it.authority.server(['a.test']),
  ] as const;
  const problem = async () =>
    JSON.parse(await it.get('/status')).secrets.served.files.problem as string | undefined;
  it.say([servedSecret('files', ['edge'], { key_pair_files: files })]);
  const stream = it.ask('edge', ['files']);
  await until(async () =>
    /crt is missing, and .*key is missing/.test((await problem()) ?? '') ? true : undefined,
  );
  write(pairs[0]);
  assert.equal(chainOf((await stream.next())[0]), pairs[0].certificate);
  write({ ...pairs[1], key: pairs[0].key });
  await until(async () => (/does not fit/.test((await problem()) ?? '') ? true : undefined));
  rmSync(files.private_key);
  await until(async () => (/is missing/.test((await problem()) ?? '') ? true : undefined));
  assert.equal(stream.waiting.length, 0);
  write(pairs[1]);
  assert.equal(chainOf((await stream.next())[0]), pairs[1].certificate);
});

test('files outside the folders that were declared are not read, and nothing is told of them', async t => {
  const it = await setUp(t, { certificateFolders: ['/etc/gateway'] });
  const folder = mkdtempSync(join(tmpdir(), 'outside-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { certificate, key } = await it.authority.server(['a.test']);
  const files = { certificate_chain: join(folder, 'crt'), private_key: join(folder, 'key') };
  writeFileSync(files.certificate_chain, certificate);
  writeFileSync(files.private_key, key);
  const ca = join(folder, 'none');
  assert.equal(
    it.say([
      servedSecret('files', ['edge'], { key_pair_files: files }),
      servedSecret('ca', ['edge'], { trusted_ca_file: ca }),
    ]),
    null,
  );
  const { served } = JSON.parse(await it.get('/status')).secrets;
  assert.match(
    served.files.problem,
    /crt is not below .*, and .*key is not below .*CERTIFICATE_FILES/,
  );
  assert.equal(served.ca.problem.split(' is not below')[0], ca);
  assert.deepEqual(names(await it.ask('edge', [...BUILT_IN, 'files', 'ca']).next()), BUILT_IN);
});
