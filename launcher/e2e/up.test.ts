import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { claimPortOffset } from '#envoy/e2e/port-offset.ts';
import { freePort } from '#grpc/testing/free-port.ts';
import { ENVOY_VERSION } from '#protos/envoy-api/envoy-files.ts';
import { httpRequest } from '../http-request.ts';
import { portsAt } from '../ports.ts';
import {
  assertNothingLeft,
  type Gateway,
  pidsOf,
  startGateway,
  until,
} from '../testing/gateway.ts';
import { underLoad } from '../testing/load.ts';

const run = promisify(execFile);
const START = join(import.meta.dirname, '..', 'start.cjs');

const SITE = `
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: site }
spec: { prefix: /, service: "127.0.0.1:9" }
`;

/** Runs `gateway <args>`, and returns its code and output. */
async function gatewayCommand(...args: string[]): Promise<{ code: number; said: string }> {
  try {
    const { stdout, stderr } = await run(process.execPath, [START, ...args]);
    return { code: 0, said: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, said: stdout + stderr };
  }
}

async function hostnames(edge: string, requests: number): Promise<readonly string[]> {
  const names: string[] = [];
  for (let request = 0; request < requests; request++) {
    names.push(
      JSON.parse((await httpRequest({ address: edge, path: '/user/health' })).body).hostname,
    );
  }
  return names;
}

describe('a gateway', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway({ by: 'npm' });
    await gateway.ready();
  });
  after(() => gateway.remove());

  test('starts without a warning, and says what to try', () => {
    assert.doesNotMatch(gateway.said(), /^\[/m);
    assert.equal(gateway.said().match(/^ {2}curl /gm)?.length, 4);
  });

  test('gives each instance the same share, in turn', async () => {
    const names = await hostnames(gateway.edge, 8);
    const [a, b] = names;
    assert.deepEqual(new Set(names), new Set(['user-service-1', 'user-service-2']));
    assert.deepEqual(names, [a, b, a, b, a, b, a, b]);
  });

  test('is not started a second time on the same state, where its resources stay', async () => {
    const demo = join(gateway.state, 'demo');
    const resources = () => readdirSync(demo).map(file => readFileSync(join(demo, file), 'utf8'));
    const served = resources();
    const { code, said } = await gatewayCommand(
      'up',
      '--state',
      gateway.state,
      '--port-offset',
      '30000',
    );
    assert.equal(code, 1);
    const { pid } = await gateway.status();
    assert.match(
      said,
      new RegExp(`^gateway: A gateway already runs on the state folder .* \\(pid ${pid}\\)`),
    );
    assert.deepEqual(resources(), served);
  });

  test('is not started on state in the format of a newer version, which stays as it is', async t => {
    const state = mkdtempSync(join(tmpdir(), 'newer-state-'));
    t.after(() => rmSync(state, { recursive: true, force: true }));
    const mark = '{"format":2,"version":"9.1.0"}';
    writeFileSync(join(state, 'version.json'), mark);
    const { code, said } = await gatewayCommand('up', '--state', state, '--port-offset', '30000');
    assert.equal(code, 1);
    assert.match(
      said,
      /^gateway: .* was written by version 9\.1\.0 in format 2, .*start version 9\.1\.0/,
    );
    assert.equal(readFileSync(join(state, 'version.json'), 'utf8'), mark);
    assert.equal(existsSync(join(state, 'up.lock')), false);
  });

  test('is not started a second time on the same ports', async () => {
    const offset = String(gateway.portOffset);
    const { code, said } = await gatewayCommand(
      'up',
      '--state',
      `${gateway.state}/other`,
      '--port-offset',
      offset,
    );
    assert.equal(code, 1);
    assert.match(
      said,
      /^gateway: Port \d+, which the edge needs, is in use by envoy \(pid \d+\): .*--port-offset 100\n$/,
    );
  });

  test('loses no request while it scales from 2 to 4 to 2', async () => {
    const { answered, failures } = await underLoad(gateway.edge, '/user/health', async () => {
      const more = await gatewayCommand('scale', '4', '--state', gateway.state);
      assert.match(
        more.said,
        /^user-service-[34] serves\nuser-service-[34] serves\n4 instances serve\n$/,
      );
      await until(async () => new Set(await hostnames(gateway.edge, 8)).size === 4, gateway.said);
      const less = await gatewayCommand('scale', '2', '--state', gateway.state, '--json');
      assert.deepEqual(JSON.parse(less.said.trim().split('\n').at(-1) ?? ''), { instances: 2 });
    });
    assert.deepEqual(failures, []);
    assert.ok(answered > 100, `${answered} answers`);
    assert.deepEqual(
      new Set(await hostnames(gateway.edge, 8)),
      new Set(['user-service-1', 'user-service-2']),
    );
  });

  test('brings an instance back that was killed, without losing a request', async () => {
    const { failures } = await underLoad(gateway.edge, '/user/health', async () => {
      const { processes } = await gateway.status();
      process.kill(processes.find(({ name }) => name === 'user-service-1')?.pid ?? 0, 'SIGKILL');
      await until(
        () => gateway.said().includes('[user-service-1] was ended by SIGKILL'),
        gateway.said,
      );
      await until(async () => new Set(await hostnames(gateway.edge, 4)).size === 2, gateway.said);
    });
    assert.deepEqual(failures, []);
  });

  test('refuses a number of instances that is none', async () => {
    const { code, said } = await gatewayCommand('scale', 'many', '--state', gateway.state);
    assert.deepEqual(
      [code, said],
      [1, 'gateway: Cannot run "many" instances: want a number from 0 to 40\n'],
    );
  });

  test('goes on when its state folder is deleted: it scales, and restarts what ends', async () => {
    const { failures } = await underLoad(gateway.edge, '/user/health', async () => {
      // Other processes write into it meanwhile.
      rmSync(gateway.state, { recursive: true, maxRetries: 10 });
      await until(() => gateway.said().includes('was deleted and is created again'), gateway.said);
      const more = await gatewayCommand('scale', '3', '--state', gateway.state);
      assert.match(more.said, /^user-service-3 serves\n3 instances serve\n$/);
    });
    assert.deepEqual(failures, []);
    const { processes } = await gateway.status();
    process.kill(processes.find(({ name }) => name === 'edge')?.pid ?? 0, 'SIGKILL');
    const serves = async () => new Set(await hostnames(gateway.edge, 6)).size === 3;
    await until(() => serves().catch(() => false), gateway.said);
    assert.deepEqual(readdirSync(join(gateway.state, 'resources')).length, 3);
  });

  test('finishes requests in flight when it stops, and leaves nothing', async () => {
    const pids = await pidsOf(gateway);
    gateway.process.kill('SIGTERM');
    assert.equal(await gateway.exited, 0);
    await assertNothingLeft(pids, gateway.portOffset);
    assert.match(gateway.said(), /stopping.*\n$/);
  });
});

test('a gateway without the sample service serves services of your own, also after it has scaled', async t => {
  let asked = 0;
  const service = http.createServer((_, response) => {
    asked += 1;
    response.end('found');
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'own-'));
  t.after(() => {
    service.close();
    rmSync(folder, { recursive: true });
  });
  const { port } = service.address() as AddressInfo;
  const services = join(folder, 'services');
  writeFileSync(services, `services: { search: { address: 127.0.0.1, port: ${port} } }`);
  writeFileSync(
    join(folder, 'search.yaml'),
    `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: search }
spec: { prefix: /search/, service: search, resolver: sds, hop_tls: false }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: copy }
spec: { prefix: /search/, service: "127.0.0.1:${port}", shadow: true }
`,
  );
  const args = ['--instances', '0', '--resources', folder, '--services', services];
  const gateway = await startGateway({ args });
  t.after(() => gateway.remove());
  await gateway.ready();
  assert.doesNotMatch(gateway.said(), /^\[|instance/m);
  assert.match(gateway.said(), /^Try:\n {2}curl http:.*\/search\/\n/m);
  assert.equal(asked, 0, 'a start asks no service');
  const search = async () => (await httpRequest({ address: gateway.edge, path: '/search/' })).body;
  await until(async () => (await search()) === 'found', gateway.said);
  assert.match(
    (await gatewayCommand('scale', '1', '--state', gateway.state)).said,
    /\n1 instance serves\n$/,
  );
  assert.match(
    (await gatewayCommand('scale', '0', '--state', gateway.state)).said,
    /\n0 instances serve\n$/,
  );
  assert.equal(await search(), 'found');
  const before = asked;
  for (let request = 0; request < 5; request++) await search();
  await until(async () => asked >= before + 10, gateway.said);
  const log = readFileSync(join(gateway.state, 'logs', 'edge.log'), 'utf8');
  assert.doesNotMatch(log, /rbac/, 'a copy has no client, which is no reason for a warning');
});

test('an edge that its variable moves needs no port but that one', async t => {
  const { offset: portOffset, release } = await claimPortOffset({ first: 2_000, last: 5_900 });
  const { edge, edgeTls } = portsAt(portOffset);
  const others = [edge, edgeTls].map(port => http.createServer().listen(port, '127.0.0.1'));
  const folder = mkdtempSync(join(tmpdir(), 'moved-'));
  writeFileSync(join(folder, 'site.yaml'), SITE);
  const [at, tls] = [await freePort(), await freePort()];
  const gateway = await startGateway({
    portOffset,
    args: ['--resources', folder],
    environment: { EDGE_ADDRESS: `0.0.0.0:${at}`, EDGE_TLS_ADDRESS: `127.0.0.1:${tls}` },
  });
  t.after(async () => {
    await gateway.remove();
    for (const server of others) server.close();
    release();
    rmSync(folder, { recursive: true });
  });
  await gateway.ready();
  assert.match(gateway.said(), new RegExp(`^ {2}edge {12}http://127.0.0.1:${at}$`, 'm'));
});

/** An Envoy of the right version that takes for ever to validate a configuration. */
const SLOW_ENVOY = `#!/bin/sh
if [ "$1" = --version ]; then echo 'envoy  version: 0/${ENVOY_VERSION}/Clean/RELEASE/BoringSSL'; exit; fi
echo $$ > "$0.pid"
exec sleep 600
`;

test('a start can be stopped before there is an Envoy', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'slow-envoy-'));
  const envoy = join(folder, 'envoy');
  writeFileSync(envoy, SLOW_ENVOY, { mode: 0o755 });
  const gateway = await startGateway({ environment: { ENVOY_BIN: envoy } });
  const pid = () => Number(existsSync(`${envoy}.pid`) && readFileSync(`${envoy}.pid`, 'utf8'));
  t.after(async () => {
    process.kill(pid(), 'SIGKILL');
    await gateway.remove();
    rmSync(folder, { recursive: true });
  });
  await until(() => pid() > 0, gateway.said);
  gateway.process.kill('SIGTERM');
  await until(() => gateway.process.exitCode === 0, gateway.said);
  assert.equal(existsSync(join(gateway.state, 'up.lock')), false);
});

describe('no gateway', () => {
  test('cannot be scaled', async () => {
    const { code, said } = await gatewayCommand('scale', '3', '--state', '/tmp/no-such-state');
    assert.equal(code, 1);
    assert.match(
      said,
      /^gateway: No gateway runs on the state folder \/tmp\/no-such-state: start one/,
    );
  });

  for (const [path, wrong] of [
    ['/tmp/no-such-resources', 'does not exist: name yours with --resources'],
    [import.meta.filename, 'is a file, not a folder: name yours with --resources'],
  ] as const)
    test(`starts with resources of which it must be said: ${wrong}`, async () => {
      const { code, said } = await gatewayCommand('up', '--resources', path);
      assert.deepEqual([code, said], [1, `gateway: The resources folder ${path} ${wrong}\n`]);
    });

  for (const [name, value, service] of [
    ['LOG_LEVEL', 'verbose', 'controlplane'],
    ['DNS_SERVERS', 'dns.example.com', 'sds'],
    ['REDIS_URL', 'http://redis:6379', 'ratelimit-service'],
    ['STORE_TIMEOUT_MS', '5000', 'ext-authz'],
    ['DATABASE_URL', 'mysql://users', 'user-service'],
  ] as const)
    test(`starts with ${name}=${value}, whose service is named`, async t => {
      const gateway = await startGateway({ environment: { [name]: value } });
      t.after(() => gateway.remove());
      await until(() => gateway.process.exitCode !== null, gateway.said);
      assert.equal(gateway.process.exitCode, 1);
      assert.match(gateway.said(), new RegExp(`^gateway: ${service}: ${name}\\b.*\\n$`));
    });

  test('starts with a folder that no list of folders can hold', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'up:'));
    t.after(() => rmSync(folder, { recursive: true }));
    const wrong = 'has ":" in it, which separates paths in a list: use another name';
    for (const option of ['--resources', '--state']) {
      const { code, said } = await gatewayCommand('up', option, folder);
      assert.deepEqual([code, said], [1, `gateway: The path ${folder} ${wrong}\n`]);
    }
    assert.deepEqual(readdirSync(folder), []);
  });
});
