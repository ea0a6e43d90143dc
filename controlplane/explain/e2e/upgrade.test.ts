import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type CompiledEnvoy, startCompiled } from '#controlplane/compile/e2e/compiled-envoy.ts';
import { askUpgrade } from '#envoy/e2e/web-socket.ts';
import { startWebSocketUpstream, type WebSocketUpstream } from '#envoy/e2e/websocket-upstream.ts';
import { describe as textOf } from '../describe.ts';
import { document, explained, lastLine } from '../testing/explained.ts';

const RESOURCES = (port: number) =>
  [
    document(
      'Mapping',
      'chat',
      `{prefix: /chat/, service: '127.0.0.1:${port}', allow_upgrade: [WebSocket]}`,
    ),
    document(
      'Mapping',
      'older',
      `{prefix: /older/, service: '127.0.0.1:${port}', use_websocket: true}`,
    ),
    document('Mapping', 'plain', `{prefix: /plain/, service: '127.0.0.1:${port}'}`),
    document(
      'Mapping',
      'closed',
      `{prefix: /closed/, service: 'ftp://x', allow_upgrade: [websocket]}`,
    ),
  ].join('');

const ASKED: readonly (readonly [
  path: string,
  upgrade: string,
  status: number,
  connection?: string,
])[] = [
  ['/chat/', 'websocket', 101],
  ['/chat/', 'WebSocket', 101],
  ['/chat/', 'websocket', 101, 'keep-alive, Upgrade'],
  ['/chat/', 'websocket', 200, 'keep-alive'],
  ['/chat/', 'websocket, other', 403],
  ['/chat/', 'h2c', 200],
  ['/older/', 'websocket', 101],
  ['/plain/', 'websocket', 403],
  ['/closed/', 'websocket', 403],
  ['/none/', 'websocket', 404],
  ['/chat/%2F', 'websocket', 400],
];

describe('what is said of a request for an upgrade is what Envoy does', () => {
  let upstream: WebSocketUpstream;
  let envoy: CompiledEnvoy;
  before(async () => {
    upstream = await startWebSocketUpstream();
    envoy = await startCompiled(RESOURCES(upstream.port));
  });
  after(async () => {
    await envoy.stop();
    await upstream.close();
  });

  for (const [url, upgrade, status, connection = 'Upgrade'] of ASKED) {
    test(`${url} with Upgrade: ${upgrade} and Connection: ${connection} is answered ${status}`, async () => {
      const seen = await askUpgrade(`http://127.0.0.1:${envoy.port}`, url, upgrade, {
        Connection: connection,
      });
      seen.socket?.destroy();
      assert.equal(seen.status, status);
      const header = [`Connection: ${connection}`, `Upgrade: ${upgrade}`];
      const { answer } = explained(RESOURCES(upstream.port), { url, header });
      assert.equal(answer?.status, status < 300 ? undefined : status);
    });
  }
});

test('an upgrade is named, and where it is refused the field that would allow it', () => {
  const header = ['Connection: Upgrade', 'Upgrade: websocket'];
  const chat = explained(RESOURCES(1), { url: '/chat/', header });
  assert.match(textOf(chat), /\n {2}to switch to websocket, /);
  const plain = explained(RESOURCES(1), { url: '/plain/', header });
  assert.equal(
    lastLine(plain),
    'This request is answered 403: its route allows no upgrade to websocket (`allow_upgrade`).',
  );
  assert.equal(plain.route?.resource, 'Mapping default/plain');
});
