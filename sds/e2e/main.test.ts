import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { promised } from '#envoy/e2e/promised.ts';
import { until } from '#envoy/e2e/until.ts';
import { startDnsServer } from '../testing/dns-server.ts';
import { startSds } from '../testing/sds-process.ts';

const MAIN = join(import.meta.dirname, '..', 'main.ts');

type Status = {
  readonly sources: { readonly file_problems: readonly string[] };
  readonly services: Readonly<Record<string, { readonly instances: { address: string }[] }>>;
};

/** Runs the service until it ends by itself. */
async function run(
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [MAIN], {
    env: { ...process.env, STATE: join(tmpdir(), `sds-main-${process.pid}`), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', chunk => {
    stderr += String(chunk);
  });
  const [code] = await once(child, 'close');
  return { code, stderr };
}

test('a bad variable ends it with 1 and one line that names the variable', async () => {
  const { code, stderr } = await run({ INSTANCES_FILE: 'x', ADDRESS: 'here' });
  assert.equal(code, 1);
  assert.match(stderr, /^sds: ADDRESS is "here": want host:port.*\n$/);
});

test('a kubeconfig that cannot be read ends it with 1 and one line that says so', async () => {
  const env = { SERVES: 'instances', INSTANCES_KUBERNETES: 'default', KUBECONFIG: '/none' };
  const { code, stderr } = await run({ ...env, ADDRESS: '127.0.0.1:0' });
  assert.equal(code, 1);
  assert.equal(stderr, 'sds: Cannot read the kubeconfig /none: ENOENT\n');
});

test('a folder for identities that cannot be made ends it with 1 and one line that names it', async () => {
  const { code, stderr } = await run({
    ...{ INSTANCES_FILE: 'x', ADDRESS: '127.0.0.1:0' },
    ...{ IDENTITY_FOLDER: '/dev/null', IDENTITIES: 'edge' },
  });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^sds: IDENTITY_FOLDER: cannot make the folder \/dev\/null\/edge: ENOTDIR.*\n$/,
  );
});

test('a STATE of a later format ends it with 1 and one line, also without secrets', async t => {
  const STATE = await mkdtemp(join(tmpdir(), 'sds-state-'));
  t.after(() => rm(STATE, { recursive: true }));
  await writeFile(join(STATE, 'version.json'), '{"format":1000,"version":"9"}');
  const served = { SERVES: 'instances', INSTANCES_FILE: 'x', ADDRESS: '127.0.0.1:0', STATE };
  const { code, stderr } = await run(served);
  assert.equal(code, 1);
  assert.match(stderr, /^sds: STATE: .* was written by version 9 in format 1000.*\n$/);
});

test('a port in use ends it with 1 and one line that says so', async t => {
  const taken = net.createServer();
  await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve));
  t.after(() => taken.close());
  const { port } = taken.address() as net.AddressInfo;
  const { code, stderr } = await run({ INSTANCES_FILE: 'x', ADDRESS: `127.0.0.1:${port}` });
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(`^sds: ADDRESS: cannot listen on 127.0.0.1 port ${port}: .*EADDRINUSE.*\n$`),
  );
});

test('SIGTERM ends it with 0 within a second', async t => {
  const sds = await startSds(t, 'services: {}');
  const start = performance.now();
  sds.child.kill('SIGTERM');
  const [code] = await once(sds.child, 'exit');
  assert.equal(code, 0);
  assert.ok(performance.now() - start < promised(1_000));
});

test('it ends when its supervisor is gone', async t => {
  const sds = await startSds(t, 'services: {}');
  sds.child.disconnect();
  const [code] = await once(sds.child, 'exit');
  assert.equal(code, 0);
});

test('a mistake in the file is logged with file and line, and is in the status', async t => {
  const sds = await startSds(t, 'services:\n  a:\n    - { address: nonsense, port: 1 }\n');
  const line = await until(() => /.*nonsense.*/.exec(sds.log())?.[0]);
  const { level, file, msg } = JSON.parse(line);
  assert.equal(level, 50);
  assert.match(file, /instances\.yaml:3$/);
  assert.match(msg, /instances\.yaml:3: services\.a\[0\]\.address: want an IP address/);
  const { sources } = (await (await fetch(`${sds.url}/status`)).json()) as Status;
  assert.deepEqual(sources.file_problems, [msg]);
});

test('a bad DNS_MAX_TTL_SECONDS ends it with 1 and one line that names it', async () => {
  const { code, stderr } = await run({ INSTANCES_FILE: 'x', DNS_MAX_TTL_SECONDS: '0' });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^sds: DNS_MAX_TTL_SECONDS is "0": want an integer of seconds from 1 to 86400\n$/,
  );
});

test('a name in the file is asked for at the given name server, and again when its TTL or the largest one is over', async t => {
  const dns = await startDnsServer();
  t.after(() => dns.close());
  const record = (data: string) => ({ type: 'A' as const, name: 'user.test', data, ttl: 600 });
  dns.zone.set('user.test', [record('10.0.0.1'), record('10.0.0.2')]);
  const file = 'services: { user-service: { dns: user.test, port: 80 } }';
  const sds = await startSds(t, file, { DNS_SERVERS: dns.address, DNS_MAX_TTL_SECONDS: '1' });
  const addresses = async () => {
    const response = await fetch(`${sds.url}/v1/registration/user-service`);
    const { hosts = [] } = (await response.json()) as { hosts?: { ip_address: string }[] };
    return hosts.map(host => host.ip_address).join();
  };
  await until(async () => ((await addresses()) === '10.0.0.1,10.0.0.2' ? true : undefined));
  dns.zone.set('user.test', [record('10.0.0.2')]);
  await until(async () => ((await addresses()) === '10.0.0.2' ? true : undefined));
});

test('a restart while the name server fails takes no address of a name away', async t => {
  const dns = await startDnsServer();
  t.after(() => dns.close());
  dns.zone.set('user.test', [{ type: 'A', name: 'user.test', data: '10.0.0.1', ttl: 600 }]);
  const servers = { DNS_SERVERS: dns.address };
  const sds = await startSds(t, 'services: { a: { dns: user.test, port: 80 } }', servers);
  const registered = async () => {
    const response = await fetch(`${sds.url}/v1/registration/a`);
    return response.ok ? await response.json() : undefined;
  };
  const { hosts } = (await until(registered)) as { hosts: { ip_address: string }[] };
  assert.equal(hosts[0]?.ip_address, '10.0.0.1');
  sds.child.kill('SIGKILL');
  await once(sds.child, 'exit');
  dns.zone.set('user.test', 'SERVFAIL');
  await startSds(t, undefined, { ...sds.place, ...servers });
  assert.deepEqual(await until(registered), { hosts });
});

test('each of several files declares instances, and an edit of one leaves those of the others', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'sds-files-'));
  t.after(() => rm(folder, { recursive: true }));
  const [one, two] = [join(folder, 'one.yaml'), join(folder, 'two.yaml')];
  await writeFile(one, 'services: { a: { address: 10.0.0.1, port: 1 } }');
  await writeFile(
    two,
    'services: { a: { address: 10.0.0.2, port: 1 }, b: { address: 10.0.0.3, port: 1 } }',
  );
  const { url } = await startSds(t, 'services: {}', { INSTANCES_FILE: [one, two].join(delimiter) });
  const addresses = async () => {
    const { services } = (await (await fetch(`${url}/status`)).json()) as Status;
    const named = Object.entries(services);
    return JSON.stringify(
      named.map(([name, { instances }]) => [name, instances.map(each => each.address)]),
    );
  };
  const becomes = (expected: unknown) =>
    until(async () => (await addresses()) === JSON.stringify(expected) || undefined);
  await becomes([
    ['a', ['10.0.0.1', '10.0.0.2']],
    ['b', ['10.0.0.3']],
  ]);
  await writeFile(one, 'services: {}');
  await becomes([
    ['a', ['10.0.0.2']],
    ['b', ['10.0.0.3']],
  ]);
});
