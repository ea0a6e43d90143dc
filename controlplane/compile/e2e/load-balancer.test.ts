import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { freePort } from '#grpc/testing/free-port.ts';
import { type Ask, type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { startEchoServer } from './echo-server.ts';
import { withInstances } from './with-instances.ts';

type Instance = Awaited<ReturnType<typeof startEchoServer>>;

let instances: readonly Instance[];
let envoy: CompiledEnvoy;

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: getambassador.io/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const mappings = (address: string) => {
  const mapping = (name: string, balancer: string) =>
    document(
      'Mapping',
      name,
      `prefix: /${name}/, service: '${address}', load_balancer: {${balancer}}`,
    );
  return [
    mapping('turns', 'policy: round_robin'),
    mapping('least', 'policy: least_request'),
    mapping('cookie', 'policy: ring_hash, cookie: {name: sticky, ttl: 90s, path: /cookie}'),
    mapping('own-cookie', 'policy: ring_hash, cookie: {name: own}'),
    mapping('session-cookie', 'policy: ring_hash, cookie: {name: own, ttl: 0s}'),
    mapping('header', 'policy: maglev, header: X-Tenant'),
    mapping('address', 'policy: ring_hash, source_ip: true'),
  ].join('');
};

before(async () => {
  instances = await Promise.all(['a', 'b', 'c'].map(startEchoServer));
  const addresses = instances.map(({ address }) => address);
  envoy = await startCompiled(mappings(addresses[0] ?? ''), 'edge', withInstances(addresses));
});

after(async () => {
  await envoy.stop();
  await Promise.all(instances.map(instance => instance.close()));
});

/** Returns the instances that answered this many requests, each once. */
async function reached(
  times: number,
  path: string,
  ask: (index: number) => Ask = () => ({}),
  by = envoy,
) {
  const servers = new Set<string>();
  for (let index = 0; index < times; index += 1)
    servers.add((await by.echo(path, ask(index))).server);
  return [...servers].sort().join('');
}

/** With this many clients one of three instances is missed once in 10^10. */
const CLIENTS = 60;

test('requests go to every instance', async () => {
  assert.equal(await reached(CLIENTS, '/turns/x'), 'abc');
  assert.equal(await reached(CLIENTS, '/least/x'), 'abc');
});

test('a client without the cookie gets one, and stays with the instance that answered', async () => {
  const first = await envoy.ask('/cookie/x');
  const [cookie = '', ...more] = first.headers['set-cookie'] ?? [];
  assert.deepEqual(more, []);
  assert.match(cookie, /^sticky="?[0-9a-f]+"?; Max-Age=90; Path=\/cookie; HttpOnly$/);
  const [sent = ''] = cookie.split(';');
  const { server } = JSON.parse(first.body) as { server: string };
  assert.equal(
    await reached(10, '/cookie/x', () => ({ headers: { cookie: `other=1; ${sent}` } })),
    server,
  );
  const again = await envoy.ask('/cookie/x', { headers: { cookie: sent } });
  assert.equal(again.headers['set-cookie'], undefined);
});

test('clients with the cookie are spread over the instances', async () => {
  for (const [path, name] of [
    ['/cookie/x', 'sticky'],
    ['/own-cookie/x', 'own'],
  ] as const)
    assert.equal(
      await reached(CLIENTS, path, index => ({ headers: { cookie: `${name}=c${index}` } })),
      'abc',
    );
});

test("the service's own cookie is left to the service; without a time it is the browser's session", async () => {
  assert.equal((await envoy.ask('/own-cookie/x')).headers['set-cookie'], undefined);
  const [cookie = ''] = (await envoy.ask('/session-cookie/x')).headers['set-cookie'] ?? [];
  assert.match(cookie, /^own="?[0-9a-f]+"?; HttpOnly$/);
});

test('requests with one header value have one instance', async () => {
  const tenant = (value: string) => ({ headers: { 'x-tenant': value } });
  assert.equal((await reached(10, '/header/x', () => tenant('blue'))).length, 1);
  assert.equal(await reached(CLIENTS, '/header/x', index => tenant(`t${index}`)), 'abc');
});

test("requests of one client's address have one instance", async () => {
  assert.equal((await reached(10, '/address/x')).length, 1);
});

test('behind application proxies too a client stays, and when its instance is gone another serves it', async t => {
  const own = await Promise.all(['d', 'e'].map(startEchoServer));
  const ports = [await freePort(), await freePort()];
  const proxies = await Promise.all(
    own.map(({ address }, index) =>
      startCompiled(applicationProxy(ports[index] ?? 0, address), 'side'),
    ),
  );
  const addresses = ports.map(port => `127.0.0.1:${port}`);
  const edge = await startCompiled(mappings(addresses[0] ?? ''), 'edge', withInstances(addresses));
  t.after(async () => {
    await Promise.all([edge, ...proxies].map(envoy => envoy.stop()));
    await Promise.all(own.map(instance => instance.close()));
  });
  const tenant = (value: string) => ({ headers: { 'x-tenant': value } });
  assert.equal(await reached(CLIENTS, '/header/x', index => tenant(`t${index}`), edge), 'de');
  assert.equal((await reached(10, '/header/x', () => tenant('blue'), edge)).length, 1);
  await own[0]?.close();
  for (const path of ['/header/x', '/least/x', '/turns/x'])
    assert.equal(await reached(CLIENTS, path, index => tenant(`t${index}`), edge), 'e', path);
});

const applicationProxy = (port: number, instance: string) =>
  document(
    'ProxyConfig',
    'side',
    `node_group: side, listener: {port: ${port}},
    virtual_hosts: [{name: instance, domains: ['*'], routes: [{prefix: /, cluster: instance}]}],
    clusters: [{name: instance, type: static, hosts: [{url: 'tcp://${instance}'}]}]`,
  );
