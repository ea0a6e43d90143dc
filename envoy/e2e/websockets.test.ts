import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Agent, type MessageEvent, WebSocket } from 'undici';
import { portsAt } from '#launcher/ports.ts';
import { patientService } from '#ratelimit-service/e2e/limited-system.ts';
import { askConnect } from './extended-connect.ts';
import { claimPortOffset, type PortOffset } from './port-offset.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';
import { askUpgrade, openWebSocket } from './web-socket.ts';
import { startWebSocketUpstream, type WebSocketUpstream } from './websocket-upstream.ts';

/** The host as the URL has it. */
const HOST = '127.0.0.1';
/** How long the upstream may take, in ms. It runs in the process of the test. */
const UPSTREAM_MS = 20_000;
/** How long the whole gateway may take to stop (launcher/system.ts). */
const STOP_MS = 10_000;

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

/**
 * Returns an application beside the first instance of the user service, which its proxy serves too.
 */
const application = ({ port }: WebSocketUpstream) =>
  document(
    'ProxyConfig',
    'chat',
    `node_group: user-service-1,
     virtual_hosts: [{name: chat, domains: [${HOST}], routes: [{prefix: /, cluster: chat}]}],
     clusters: [{name: chat, type: static, hosts: [{url: 'tcp://127.0.0.1:${port}'}]}]`,
  );

const mapping = (name: string, fields: string) =>
  document(
    'Mapping',
    name,
    `host: ${HOST}, prefix: /${name}/, service: user-service, resolver: sds, ${fields}`,
  );

const LIMITED = `allow_upgrade: [websocket], labels: {gateway: [{g: [rare]}]}`;

describe('through the whole gateway, with mutual TLS and HTTP/2 between its proxies,', () => {
  let upstream: WebSocketUpstream;
  let system: System;
  let port: PortOffset;
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= system.stop();
    return stopped;
  };
  before(async () => {
    upstream = await startWebSocketUpstream();
    port = await claimPortOffset();
    const documents = [
      patientService(`127.0.0.1:${portsAt(port.offset).rateLimit}`),
      application(upstream),
      mapping('chat', `allow_upgrade: [websocket], timeout_ms: ${UPSTREAM_MS}`),
      document(
        'Host',
        'any',
        "hostname: '*', tls: {issuer: gateway}, requestPolicy: {insecure: {action: Route}}",
      ),
      mapping('limited', LIMITED),
      mapping('without', ''),
      document(
        'RateLimit',
        'rare',
        'domain: gateway, limits: [{pattern: [{generic_key: rare}], rate: 0, unit: day}]',
      ),
    ];
    system = await startSystem({ port, resources: { 'chat.yaml': documents.join('') } });
    await system.statusWhen(({ resources }) =>
      resources.every(({ state }) => state === 'in force'),
    );
    await until(async () => ((await ask('/chat/')).status === 101 ? true : undefined));
  });
  after(async () => {
    await stop();
    port.release();
    await upstream.close();
  });

  async function ask(path: string) {
    const answer = await askUpgrade(system.edge, path, 'websocket');
    answer.socket?.destroy();
    return answer;
  }

  test('a WebSocket reaches an instance behind its proxy', async () => {
    const socket = await openWebSocket(system.edge, '/chat/room');
    assert.equal(await socket.echo('x'.repeat(60_000)), 'x'.repeat(60_000));
    const { headers, url } = upstream.asked().at(-1) ?? {};
    const host = new URL(system.edge).host;
    assert.deepEqual([url, headers?.upgrade, headers?.host], ['/room', 'websocket', host]);
    socket.close();
    await socket.closed;
  });

  test('one that a browser opens over HTTP/2, without a key, gets one for the instance', async () => {
    const asked = { authority: HOST, path: '/chat/room', protocol: 'websocket' };
    const { status } = await askConnect(system.edge, asked);
    assert.equal(status, 200);
  });

  for (const allowH2 of [false, true]) {
    test(`by https and HTTP/${allowH2 ? '2' : '1.1'} too`, async t => {
      const ca = readFileSync(join(system.state, 'authority', 'roots.pem'), 'utf8');
      const dispatcher = new Agent({
        allowH2,
        connect: { ca, checkServerIdentity: () => undefined },
      });
      t.after(() => dispatcher.destroy());
      const socket = new WebSocket(`wss://${HOST}:${system.ports.edgeTls}/chat/room`, {
        dispatcher,
      });
      const opened = new Promise((resolve, reject) => {
        socket.addEventListener('open', resolve);
        socket.addEventListener('error', ({ error }) => reject(error));
      });
      await opened;
      const message = once(socket, 'message');
      socket.send('hello');
      const [event] = (await message) as [MessageEvent];
      assert.equal(event.data, 'hello');
      assert.equal(upstream.asked().at(-1)?.headers['x-forwarded-proto'], 'https');
      socket.close();
      await once(socket, 'close');
    });
  }

  test('more are open at once than one connection between the proxies carries', async t => {
    const answers = await Promise.all(
      Array.from({ length: 150 }, () => askUpgrade(system.edge, '/chat/room')),
    );
    t.after(() => {
      for (const { socket } of answers) socket?.destroy();
    });
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [101]);
  });

  test('edits leave one open, though its cluster gets another name and its Mapping allows no more', async () => {
    const clusters = async () =>
      (await fetch(`http://127.0.0.1:${system.ports.edgeAdmin}/clusters`)).text();
    system.write('edited.yaml', mapping('edited', 'allow_upgrade: [websocket]'));
    await until(async () => ((await ask('/edited/')).status === 101 ? true : undefined));
    const socket = await openWebSocket(system.edge, '/edited/room');
    assert.match(await clusters(), /^user-service::/m);
    system.write('edited.yaml', mapping('edited', 'connect_timeout_ms: 250'));
    await until(async () => ((await ask('/edited/')).status === 403 ? true : undefined));
    await until(async () => (/^user-service::/m.test(await clusters()) ? undefined : true));
    assert.equal(await socket.echo('still there'), 'still there');
    socket.close();
  });

  test('none is opened where the Mapping does not allow it', async () => {
    assert.equal((await ask('/without/')).status, 403);
  });

  test('a limit counts the request for it as any other', async () => {
    assert.equal((await ask('/limited/')).status, 429);
  });

  test('it ends in bounded time when the gateway stops', async t => {
    const socket = await openWebSocket(system.edge, '/chat/room');
    assert.equal(await socket.echo('open'), 'open');
    const begun = performance.now();
    const stopping = stop();
    await socket.closed;
    const ms = Math.round(performance.now() - begun);
    t.diagnostic(`closed after ${ms} ms`);
    assert.ok(ms < STOP_MS);
    await stopping;
  });
});
