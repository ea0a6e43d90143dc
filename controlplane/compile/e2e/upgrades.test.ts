import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { askConnect } from '#envoy/e2e/extended-connect.ts';
import { askUpgrade, openWebSocket } from '#envoy/e2e/web-socket.ts';
import {
  SILENT,
  startWebSocketUpstream,
  type WebSocketUpstream,
} from '#envoy/e2e/websocket-upstream.ts';
import { freePort } from '#grpc/testing/free-port.ts';
import type { JsonObject } from '#protos/json.ts';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';

const SILENT_MS = 300;
/** The longest handshake with an upstream in the process of the test. */
const PATIENT_MS = 4_000;
/** Longer than that, and than an idle HTTP/1.1 connection to a service is kept. */
const LONG_MS = 4_500;

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: getambassador.io/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

const mappings = ({ port }: WebSocketUpstream) => {
  const mapping = (name: string, fields: string) =>
    document('Mapping', name, `service: '127.0.0.1:${port}', ${fields}`);
  return [
    mapping('chat', `prefix: /chat/, timeout_ms: ${PATIENT_MS}, allow_upgrade: [WebSocket, x-Raw]`),
    mapping('older', 'prefix: /older/, use_websocket: true'),
    mapping('without', 'prefix: /without/'),
    mapping('never', 'prefix: /never/, use_websocket: false, allow_upgrade: []'),
    mapping('refused', 'prefix: /refused/, rewrite: no-path, allow_upgrade: [websocket]'),
    mapping(
      'silent',
      `prefix: ${SILENT}, rewrite: "", timeout_ms: ${SILENT_MS}, allow_upgrade: [websocket]`,
    ),
    mapping('long', `prefix: /long, rewrite: ${SILENT}, timeout_ms: ${LONG_MS}`),
  ].join('');
};

describe('a request for an upgrade', () => {
  let upstream: WebSocketUpstream;
  let envoy: CompiledEnvoy;
  let base: string;
  before(async () => {
    upstream = await startWebSocketUpstream();
    envoy = await startCompiled(mappings(upstream));
    base = `http://127.0.0.1:${envoy.port}`;
  });
  after(async () => {
    await envoy.stop();
    await upstream.close();
  });

  for (const [path, seen] of [
    ['/chat/room?a=1', '/room?a=1'],
    ['/older/room', '/room'],
  ] as const) {
    test(`at ${path} opens a WebSocket, whose messages come back whole`, async () => {
      const socket = await openWebSocket(base, path);
      for (const message of ['hello', 'x'.repeat(60_000)])
        assert.equal(await socket.echo(message), message);
      socket.close();
      assert.equal(upstream.asked().at(-1)?.url, seen);
    });
  }

  for (const [path, protocol, status] of [
    ['/chat/', 'websocket', 101],
    ['/chat/', 'WEBSOCKET', 101],
    ['/chat/', 'x-raw', 101],
    ['/chat/', 'x-other', 403],
    ['/chat/', 'websocket, x-other', 403],
    ['/older/', 'x-raw', 403],
    ['/without/', 'websocket', 403],
    ['/never/', 'websocket', 403],
    ['/refused/', 'websocket', 403],
    ['/nowhere/', 'websocket', 404],
  ] as const) {
    test(`to ${protocol} at ${path} is answered ${status}, and the service sees it only when it may`, async () => {
      const seen = upstream.asked().length;
      const answer = await askUpgrade(base, path, protocol);
      answer.socket?.destroy();
      assert.equal(answer.status, status);
      assert.equal(upstream.asked().length - seen, status === 101 ? 1 : 0);
    });
  }

  for (const [protocol, path, status] of [
    ['x-raw', '/chat/', 200],
    ['x-other', '/chat/', 403],
    ['connect-udp', '/chat/', 404],
    ['x-raw', '/without/', 403],
  ] as const) {
    test(`over HTTP/2 to ${protocol} at ${path} is answered ${status}`, async () => {
      const answer = await askConnect(base, { path, protocol, send: 'hello' });
      assert.equal(answer.status, status);
      if (status !== 200) return;
      assert.equal(answer.received, 'hello');
      assert.equal(upstream.asked().at(-1)?.headers['sec-websocket-key'], undefined);
    });
  }

  test('over HTTP/2 to websocket, which has no key, is answered 200 by a service that wants one', async () => {
    const { status } = await askConnect(base, { path: '/chat/room', protocol: 'websocket' });
    assert.equal(status, 200);
  });

  test('to websocket keeps the key of the client', async () => {
    const key = Buffer.alloc(16, 1).toString('base64');
    const { socket } = await askUpgrade(base, '/chat/', 'websocket', { 'Sec-WebSocket-Key': key });
    socket?.destroy();
    assert.equal(upstream.asked().at(-1)?.headers['sec-websocket-key'], key);
  });

  test('names no other header as one of its connection', async () => {
    const Connection = 'keep-alive, Upgrade, X-User, X-Forwarded-For';
    const { socket, status } = await askUpgrade(base, '/chat/', 'websocket', { Connection });
    socket?.destroy();
    assert.equal(status, 101);
    assert.equal(upstream.asked().at(-1)?.headers.connection, 'upgrade');
  });

  test('is no tunnel', async () => {
    assert.equal((await askConnect(base, {})).status, 404);
  });

  test('is answered 504 when the service is silent for `timeout_ms`', async () => {
    assert.equal((await askUpgrade(base, SILENT)).status, 504);
  });

  test('leaves a connection that outlives `timeout_ms`, and the time for which an idle one is kept', async () => {
    const socket = await openWebSocket(base, '/chat/room');
    const { status } = await envoy.ask('/long');
    assert.equal(status, 504, 'this long has it been silent');
    assert.equal(await socket.echo('still there'), 'still there');
    socket.close();
  });

  test('that has become a WebSocket ends when it is silent for as long as a stream may be', async t => {
    const soon = (bootstrap: JsonObject) =>
      JSON.parse(
        JSON.stringify(bootstrap).replaceAll(
          '"stream_idle_timeout":"300s"',
          '"stream_idle_timeout":"0.3s"',
        ),
      ) as JsonObject;
    const hasty = await startCompiled(mappings(upstream), 'edge', soon);
    t.after(() => hasty.stop());
    const socket = await openWebSocket(`http://127.0.0.1:${hasty.port}`, '/chat/');
    await socket.closed;
  });

  test('that has become a WebSocket ends for the client when the service is gone', async t => {
    const short = await startWebSocketUpstream();
    const other = await startCompiled(mappings(short));
    t.after(() => other.stop());
    const socket = await openWebSocket(`http://127.0.0.1:${other.port}`, '/chat/');
    await short.close();
    await socket.closed;
  });
});

describe('through the proxy beside an instance', () => {
  const applicationProxy = (port: number, instance: number) =>
    document(
      'ProxyConfig',
      'side',
      `node_group: chat-1, listener: {port: ${port}},
       virtual_hosts: [{name: all, domains: ['*'], routes: [{prefix: /, cluster: instance}]}],
       clusters: [{name: instance, type: static, hosts: [{url: 'tcp://127.0.0.1:${instance}'}]}]`,
    );

  for (const [fields, status] of [
    ['allow_upgrade: [websocket]', 101],
    ['allow_upgrade: [x-other]', 403],
    ['node_group: chat-1, allow_upgrade: [websocket]', 403],
    ['timeout_ms: 0', 403],
  ] as const) {
    test(`a WebSocket is answered ${status} where a Mapping to its service says {${fields}}`, async t => {
      const upstream = await startWebSocketUpstream();
      t.after(() => upstream.close());
      const edge = document(
        'Mapping',
        'chat',
        `prefix: /chat, service: chat, resolver: sds, ${fields}`,
      );
      const proxy = await startCompiled(
        applicationProxy(await freePort(), upstream.port) + edge,
        'chat-1',
      );
      t.after(() => proxy.stop());
      const answer = await askUpgrade(`http://127.0.0.1:${proxy.port}`, '/');
      assert.equal(answer.status, status);
      if (answer.socket === undefined) return;
      answer.socket.end();
      await once(answer.socket, 'close');
    });
  }

  test('when an instance is gone and its proxy is not, every WebSocket opens at another', async t => {
    const upstream = await startWebSocketUpstream();
    t.after(() => upstream.close());
    const ports = [await freePort(), await freePort()];
    const mapping = document(
      'Mapping',
      'chat',
      'prefix: /, service: chat, allow_upgrade: [websocket]',
    );
    const proxies = [
      await startCompiled(applicationProxy(ports[0] ?? 0, upstream.port) + mapping, 'chat-1'),
      await startCompiled(applicationProxy(ports[1] ?? 0, 1) + mapping, 'chat-1'),
    ];
    t.after(() => Promise.all(proxies.map(proxy => proxy.stop())));
    const cluster = `{name: chat, type: strict_dns, hosts: [${ports.map(port => `{url: 'tcp://127.0.0.1:${port}'}`).join()}]}`;
    const edge = await startCompiled(
      document('ProxyConfig', 'edge', `node_group: edge, clusters: [${cluster}]`) + mapping,
    );
    t.after(() => edge.stop());
    for (let at = 0; at < 20; at += 1) {
      const { socket, status } = await askUpgrade(`http://127.0.0.1:${edge.port}`, '/');
      assert.equal(status, 101);
      socket?.destroy();
    }
    assert.match(
      proxies[1]?.log() ?? '',
      /"status":503/,
      'the dead one was asked, else this shows nothing',
    );
  });
});
