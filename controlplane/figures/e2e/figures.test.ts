import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { askConnect } from '#envoy/e2e/extended-connect.ts';
import { until } from '#envoy/e2e/until.ts';
import type { UpstreamFigures } from '../figures.ts';
import { type FiguresSystem, startFiguresSystem } from '../testing/figures-system.ts';

const mapping = (name: string, service: string, more = '') => `
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: ${name} }
spec: { prefix: /${name}/, service: "${service}"${more} }
`;

const portOf = (server: http.Server) => (server.address() as AddressInfo).port;

describe('the figures of a control plane with one edge', () => {
  let service: http.Server;
  let silent: http.Server;
  let system: FiguresSystem;

  before(async () => {
    service = http.createServer(({ url }, response) => {
      response.statusCode = url?.includes('missing') ? 404 : url?.includes('broken') ? 500 : 200;
      setTimeout(() => response.end('answer'), url?.includes('slow') ? 300 : 0);
    });
    service.on('upgrade', (_request, socket) => {
      socket.on('error', () => {});
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      );
    });
    await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve));
    silent = http.createServer(() => {});
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve));
    const { port } = service.address() as AddressInfo;
    const hosts = [port, portOf(silent)].map(each => `{ url: "tcp://127.0.0.1:${each}" }`);
    system = await startFiguresSystem(
      [
        mapping('users', `127.0.0.1:${port}`),
        mapping('refused', '127.0.0.1:1'),
        mapping('unknown', 'no-such-name.invalid'),
        mapping('plain', `https://127.0.0.1:${port}`),
        mapping('late', `localhost:${port}`, ', timeout_ms: 100'),
        `\n---\napiVersion: gateway.internal/v2\nkind: ProxyConfig\nmetadata: { name: both }\nspec: { node_group: edge, clusters: [{ name: both, type: static, hosts: [${hosts}] }] }\n`,
        mapping('pair', 'both', ', timeout_ms: 100'),
        mapping('slower', `127.0.0.1:${port}`, ', connect_timeout_ms: 1234'),
        mapping('chat', `127.0.0.1:${port}`, ', allow_upgrade: [websocket]'),
        mapping('moved', `127.0.0.1:${port}`, ', host_redirect: true'),
      ].join(''),
    );
  });
  after(async () => {
    await system.stop();
    for (const each of [service, silent]) {
      each.close();
      each.closeAllConnections();
    }
  });

  const get = async (path: string) => (await fetch(`${system.edge}${path}`)).status;

  test('count the requests of each Mapping with their errors and latency', async () => {
    for (let i = 0; i < 10; i++) assert.equal(await get('/users/a'), 200);
    assert.equal(await get('/users/missing'), 404);
    assert.equal(await get('/users/broken'), 500);
    assert.equal(await get('/users/slow'), 200);
    // Envoy may push a latency after the count of its request.
    const page = await system.figuresWhen(({ mappings }) => {
      const { p99, requests } = mappings['Mapping/default/users']?.lastMinute ?? {};
      return requests === 13 && (p99 ?? 0) > 200;
    }, 'all requests are counted, with the latency of the slow one');
    const users = page.mappings['Mapping/default/users']?.lastMinute;
    assert.ok(users !== undefined && users.p50 !== null && users.p99 !== null);
    assert.deepEqual([users.clientErrors, users.serverErrors], [1, 1]);
    assert.ok(users.p50 < 100, `p50 is ${users.p50}`);
    assert.ok(users.p99 <= 700, `p99 is ${users.p99}`);
    assert.deepEqual(
      page.sources.map(({ node, group }) => [node, group]),
      [['edge-1', 'edge']],
    );
  });

  test('count what the proxy answers, and no request that its client gave up', async () => {
    for (let i = 0; i < 3; i++) {
      const { status } = await fetch(`${system.edge}/moved/`, { redirect: 'manual' });
      assert.equal(status, 301);
    }
    const given = fetch(`${system.edge}/users/slow`, { signal: AbortSignal.timeout(50) });
    await assert.rejects(given, { name: 'TimeoutError' });
    const { mappings } = await system.figuresWhen(
      page => page.mappings['Mapping/default/moved']?.lastMinute.requests === 3,
      'the redirects are counted',
    );
    assert.equal(mappings['Mapping/default/moved']?.lastMinute.clientErrors, 0);
    assert.equal(mappings['Mapping/default/users']?.lastMinute.requests, 13);
  });

  test('count by no status of more than three digits, which a service could make up for ever', async t => {
    const maker = net.createServer(socket => {
      socket.on('error', () => {});
      socket.on('data', asked => {
        const [, status] = /^GET \/(\d+)/.exec(String(asked)) ?? [];
        socket.end(`HTTP/1.1 ${status} Made Up\r\nContent-Length: 0\r\n\r\n`);
      });
    });
    await new Promise<void>(resolve => maker.listen(0, '127.0.0.1', resolve));
    t.after(() => maker.close());
    system.write(
      'made-up.yaml',
      mapping('made-up', `127.0.0.1:${(maker.address() as AddressInfo).port}`),
    );
    await until(async () => (await get('/made-up/200')) === 200 || undefined);
    for (const status of [1_000, 65_535])
      await assert.rejects(get(`/made-up/${status}`), ({ cause }) => /status/.test(String(cause)));
    assert.equal(await get('/made-up/999'), 999);
    await system.envoyWhen('/stats?filter=^route.requests', /made-up.envoy_response_code.999: 1/);
    assert.doesNotMatch(await system.envoy.get('/stats?filter=^route.requests'), /code\.\d{4}/);
  });

  test('count a WebSocket when it closes, and its time is no latency', async () => {
    const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket' };
    const asked = http.get(`${system.edge}/chat/`, { headers: upgrade });
    const [, socket] = (await once(asked, 'upgrade')) as [unknown, net.Socket];
    socket.destroy();
    const overHttp2 = { path: '/chat/', protocol: 'websocket' };
    assert.equal((await askConnect(system.edge, overHttp2)).status, 200);
    const { mappings } = await system.figuresWhen(
      page => page.mappings['Mapping/default/chat']?.lastMinute.requests === 2,
      'both are counted',
    );
    assert.equal(mappings['Mapping/default/chat']?.lastMinute.p99, null);
    assert.doesNotMatch(await system.envoy.get('/stats?filter=^route.request_time'), /chat/);
  });

  test('count each late request once, whether its method may be repeated or not', async () => {
    const ask = async (method: string) =>
      (await fetch(`${system.edge}/late/slow`, { method })).status;
    for (const method of ['GET', 'GET', 'GET', 'POST', 'POST'])
      assert.equal(await ask(method), 504, method);
    assert.equal(await get('/late/'), 200);
    const isLate = ({ origins }: UpstreamFigures) => origins.includes('Mapping/default/late');
    const { mappings, upstreams } = await system.figuresWhen(page => {
      const { requests, serverErrors } = page.upstreams.find(isLate)?.lastMinute ?? {};
      const ofMapping = page.mappings['Mapping/default/late']?.lastMinute.requests;
      // The errors come from the log, which may be read after the counts.
      return ofMapping === 6 && requests === 6 && (serverErrors ?? 0) >= 5;
    }, 'all requests are counted');
    assert.equal(mappings['Mapping/default/late']?.lastMinute.serverErrors, 5);
    const { answers, late, serverErrors } = upstreams.find(isLate)?.lastMinute ?? {};
    assert.deepEqual({ answers, late, serverErrors }, { answers: 1, late: 5, serverErrors: 5 });
  });

  test('blame no healthy instance for a late request that a retry would have sent there', async () => {
    const statuses = [await get('/pair/?1'), await get('/pair/?2')];
    assert.ok(statuses.includes(504), String(statuses));
    const { requests } = await system.figuresWhen(
      page => page.requests.some(({ path }) => path === '/pair/'),
      'the late request is listed',
      '?status=504',
    );
    assert.equal(requests.find(({ path }) => path === '/pair/')?.upstream, '');
    const line = await until(() =>
      system.envoy
        .log()
        .split('\n')
        .find(each => each.includes('"/pair/"') && each.includes('answer_too_late')),
    );
    assert.equal(JSON.parse(line).upstream, null);
  });

  test('have a log of what failed, without queries', async () => {
    assert.equal(await get('/users/broken?token=secret'), 500);
    const { requests } = await system.figuresWhen(
      page => page.requests.length > 0 && JSON.stringify(page).includes('/users/broken'),
      'the failed request is listed',
      '?status=500',
    );
    const [request] = requests;
    assert.ok(request !== undefined);
    const { node, route, method, path, status, cluster } = request;
    assert.deepEqual(
      { node, route, method, path, status },
      {
        node: 'edge-1',
        route: 'Mapping/default/users',
        method: 'GET',
        path: '/users/broken',
        status: 500,
      },
    );
    assert.match(cluster, /^127\.0\.0\.1:/);
    assert.ok(!JSON.stringify(requests).includes('secret'));
  });

  test('list every request as long as there are few', async () => {
    await system.envoyWhen('/runtime', /"figures\.sampled": \{\s+"final_value": "1e\+06"/);
    for (let number = 0; number < 20; number++) assert.equal(await get(`/users/${number}`), 200);
    const { requests } = await system.figuresWhen(
      page => page.requests.filter(({ path }) => /^\/users\/\d+$/.test(path)).length === 20,
      'all 20 requests are listed',
      '?status=2',
    );
    assert.ok(requests.slice(0, 20).every(({ weight }) => weight === 1));
  });

  test('say why a service is not reached', async () => {
    assert.deepEqual(
      [await get('/refused/'), await get('/unknown/'), await get('/plain/')],
      [503, 503, 503],
    );
    const { upstreams } = await system.figuresWhen(
      page => page.upstreams.filter(({ lastFailure }) => lastFailure !== undefined).length >= 3,
      'three clusters have failed',
    );
    const of = (name: string) => {
      const found = upstreams.find(({ origins }) => origins.includes(`Mapping/default/${name}`));
      assert.ok(found !== undefined, name);
      return found;
    };
    const line = await until(() =>
      system.envoy
        .log()
        .split('\n')
        .find(each => each.includes('"path":"/refused/"')),
    );
    assert.equal(JSON.parse(line).upstream, '127.0.0.1:1');
    assert.match(of('refused').lastFailure?.text ?? '', /Connection refused/);
    assert.ok(of('refused').lastMinute.connectFailures > 0);
    assert.match(of('plain').lastFailure?.text ?? '', /WRONG_VERSION_NUMBER/);
    assert.ok(of('plain').lastMinute.tlsFailures > 0);
    assert.equal(of('unknown').members, 0);
    assert.deepEqual(of('unknown').lastFailure?.flags, ['UH']);
    assert.deepEqual([of('users').members, of('users').healthy], [1, 1]);
  });

  test('count on when the control plane was killed and is back', async () => {
    await system.restartControlPlane();
    assert.equal(await get('/users/a'), 200);
    await system.figuresWhen(
      ({ mappings }) => (mappings['Mapping/default/users']?.lastMinute.requests ?? 0) > 0,
      'the edge pushes again',
    );
  });
});

test('with FIGURES=off no proxy pushes anything', async t => {
  const system = await startFiguresSystem(mapping('refused', '127.0.0.1:1'), { FIGURES: 'off' });
  t.after(() => system.stop());
  assert.equal((await fetch(`${system.edge}/refused/`)).status, 503);
  const { on, sources, mappings, requests } = await system.figures();
  assert.deepEqual(
    { on, sources, mappings, requests },
    { on: false, sources: [], mappings: {}, requests: [] },
  );
  const config = await system.envoy.get('/config_dump');
  assert.doesNotMatch(config, /"@type": "[^"]*(?:MetricsServiceConfig|HttpGrpcAccessLogConfig)"/);
});
