import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { freePort } from '#grpc/testing/free-port.ts';
import { bootstrap } from '../bootstrap.ts';
import { type EnvoyProcess, startEnvoy } from './envoy-process.ts';
import { until } from './until.ts';
import { validate } from './validate.ts';

const OPTIONS = {
  nodeId: 'edge-1',
  group: 'edge',
  xdsAddress: '127.0.0.1:1',
  sdsAddress: '127.0.0.1:1',
};

let envoy: EnvoyProcess;
let port: number;
let localPort: number;
before(async () => {
  const admin = await freePort();
  port = await freePort();
  localPort = await freePort();
  const { dynamic_resources: _, ...json } = bootstrap({
    ...OPTIONS,
    adminAddress: `127.0.0.1:${admin}`,
    statsAddress: `127.0.0.1:${port}`,
    localAdminAddress: `127.0.0.1:${localPort}`,
    figures: false,
  });
  const address = { socket_address: { address: '127.0.0.1', port_value: admin } };
  envoy = await startEnvoy(json, ['--config-yaml', JSON.stringify({ admin: { address } })]);
  await envoy.listenerPort('stats');
  await envoy.listenerPort('local-admin');
});
after(() => envoy.stop());

/** Returns the status and body of the answer to these bytes, and closes. */
async function send(bytes: string, to = port): Promise<{ status: number; body: string }> {
  const socket = connect(to, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes, 'latin1');
  const answer = await text(socket);
  return { status: Number(answer.split(' ')[1]), body: answer.slice(answer.indexOf('\r\n\r\n')) };
}

const ask = (line: string, headers = '') =>
  send(`${line} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${headers}\r\n`);

test('it answers the statistics for Prometheus', async () => {
  const { body, status } = await ask('GET /stats/prometheus');
  assert.equal(status, 200);
  assert.match(body, /^envoy_server_live\{\} 1$/m);
  assert.doesNotMatch(body, /upstream_cx_protocol_error/, 'it was never counted');
});

test('a cluster has the statistics that somebody reads, and no others', async () => {
  const of = (name: string) => new RegExp(`^cluster\\.controlplane\\.(${name}): `, 'gm');
  const stats = await envoy.get('/stats');
  const names = (name: string) => [...stats.matchAll(of(name))].map(([, found]) => found);
  const read = ['lb_healthy_panic', 'membership_healthy', 'membership_total', 'update_failure'];
  assert.deepEqual(names(read.join('|')), read);
  assert.equal(names('circuit_breakers\\.default\\..*').length, 5);
  assert.deepEqual(names('warming_state'), ['warming_state'], 'a figure tells by it who is there');
  assert.deepEqual(names('assignment_.*|lb_(subsets|zone|local|recalculate)_.*'), []);
  assert.deepEqual(names('circuit_breakers\\.high.*|version|.*total_match_count|max_host.*'), []);
});

test('it tells whether Envoy is ready', async () => {
  const { body, status } = await ask('GET /ready');
  assert.equal(status, 200);
  assert.match(body, /LIVE/);
});

const REFUSED = [
  'GET /',
  'GET /quitquitquit',
  'POST /quitquitquit',
  'GET /config_dump',
  'GET /stats',
  'GET /stats/',
  'GET /stats/prometheus/',
  'GET /stats/prometheus?filter=.*',
  'GET /stats/prometheus?',
  'GET /ready?a',
  'GET /ready#a',
  'GET //stats/prometheus',
  'GET /stats//prometheus',
  'GET /STATS/prometheus',
  'GET /stats%2Fprometheus',
  'GET /stats/prometheus/../../quitquitquit',
  'GET /stats/prometheus/%2e%2e/%2e%2e/quitquitquit',
  'GET /ready/../quitquitquit',
  'GET /ready%00',
  'GET /ready;a=b',
  'GET /ready\\..\\quitquitquit',
  'GET http://a/quitquitquit',
  'GET http://a/ready?b',
  'POST http://a/quitquitquit',
  'POST /stats/prometheus',
  'POST /ready',
  'HEAD /ready',
  'PUT /ready',
  'OPTIONS /ready',
  'OPTIONS *',
  'TRACE /ready',
  'DELETE /stats/prometheus',
  'CONNECT a:80',
  'CONNECT 127.0.0.1:9901',
  'get /ready',
  'POST /healthcheck/fail',
  'POST /drain_listeners',
  'POST /logging?level=trace',
  'POST /runtime_modify?a=b',
  'POST /reset_counters',
  'PRI *',
];

describe('it refuses', { concurrency: 16 }, () => {
  for (const line of REFUSED) {
    test(`"${line}", and Envoy goes on`, async () => {
      const { status } = await ask(line);
      assert.ok(Number.isNaN(status) || (status >= 400 && status < 500), `${status}`);
      assert.equal((await ask('GET /ready')).status, 200);
    });
  }
});

const HEADERS = [
  'x-envoy-original-path: /quitquitquit\r\n',
  'x-http-method-override: POST\r\n',
  'x-original-url: /quitquitquit\r\n',
  ':path: /quitquitquit\r\n',
  'content-length: 40\r\n\r\nPOST /quitquitquit HTTP/1.1\r\nhost: a\r\n\r\n',
  'transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n0\r\n\r\nPOST /quitquitquit HTTP/1.1\r\nhost: a\r\n\r\n',
  'upgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nconnection: upgrade, http2-settings\r\n',
  'upgrade: websocket\r\nconnection: upgrade\r\n',
];

for (const header of HEADERS) {
  test(`"${header.slice(0, 30).trim()}" gets nothing else, and Envoy goes on`, async () => {
    const { body } = await ask('GET /ready', header);
    assert.doesNotMatch(body, /OK\n/, 'the answer of what changes something');
    assert.equal((await ask('GET /ready')).status, 200);
    assert.match(await envoy.get('/server_info'), /"state": "LIVE"/);
  });
}

test('it keeps 100 connections, and closes all others', async () => {
  const sockets = Array.from({ length: 150 }, () => connect(port, '127.0.0.1'));
  const closed = () => sockets.filter(({ readableEnded }) => readableEnded).length;
  for (const socket of sockets) socket.on('error', () => {}).resume();
  await until(() => closed() >= 50 || undefined);
  assert.equal(closed(), 50);
  for (const socket of sockets) socket.destroy();
  await until(
    async () => (await ask('GET /ready').catch(() => ({ status: 0 }))).status === 200 || undefined,
  );
});

test('HTTP/2 is not spoken there', async () => {
  const { status } = await send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  assert.ok(Number.isNaN(status) || status >= 400);
});

const toAdmin = (line: string, headers: string) =>
  send(`${line} HTTP/1.1\r\nconnection: close\r\n${headers}\r\n`, localPort);

describe('the admin interface obeys a program of the machine, and no web page', () => {
  for (const host of ['127.0.0.1:9901', 'localhost:9901', '[::1]:1', '127.0.0.1', 'LOCALHOST']) {
    test(`a program asks ${host}`, async () => {
      assert.match((await toAdmin('GET /clusters', `host: ${host}\r\n`)).body, /controlplane::/);
      const order = await toAdmin('POST /logging?level=warning', `host: ${host}\r\n`);
      assert.deepEqual([order.status, /active loggers/.test(order.body)], [200, true]);
    });
  }

  const HOST = 'host: 127.0.0.1:9901\r\n';
  const PAGES = [
    `${HOST}origin: https://evil.test\r\n`,
    `${HOST}origin: null\r\n`,
    `${HOST}origin:\r\n`,
    `${HOST}origin: http://127.0.0.1:9901\r\n`,
    `${HOST}sec-fetch-site: cross-site\r\n`,
    `${HOST}sec-fetch-site: none\r\n`,
    'host: evil.test:9901\r\n',
    'host: 127.0.0.1.evil.test\r\n',
    'host: localhost.evil.test\r\n',
    'host:\r\n',
  ];
  for (const headers of PAGES) {
    test(`a page sends "${headers.replaceAll('\r\n', ' ').trim()}"`, async () => {
      for (const order of ['POST /quitquitquit', 'POST /drain_listeners', 'PUT /x'])
        assert.ok((await toAdmin(order, headers)).status >= 400, order);
      assert.match(await envoy.get('/server_info'), /"state": "LIVE"/);
    });
  }

  test('a page of a foreign name reads nothing', async () => {
    for (const path of ['/', '/config_dump', '/ready'])
      assert.equal((await toAdmin(`GET ${path}`, 'host: evil.test:9901\r\n')).status, 403);
  });
});

test('Envoy accepts it at an IPv6 address, and for an admin interface at a unix socket', async () => {
  const options = { ...OPTIONS, adminAddress: 'unix:/run/admin.sock', statsAddress: '[::1]:9902' };
  assert.equal(await validate(bootstrap(options)), undefined);
});

test('without an admin interface, or at a name, it is refused', () => {
  assert.throws(() => bootstrap({ ...OPTIONS, statsAddress: '0.0.0.0:9902' }), /admin address/);
  const adminAddress = '127.0.0.1:9901';
  assert.throws(() => bootstrap({ ...OPTIONS, adminAddress, statsAddress: 'a:9902' }), /host name/);
});
