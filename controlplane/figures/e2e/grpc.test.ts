import assert from 'node:assert/strict';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { type FiguresSystem, startFiguresSystem } from '../testing/figures-system.ts';

const GRPC = { method: 'POST', headers: { 'content-type': 'application/grpc' } };

describe('the figures of gRPC calls, whose HTTP status is 200', () => {
  let service: http2.Http2Server;
  let system: FiguresSystem;

  before(async () => {
    service = http2.createServer().on('stream', answer);
    await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve));
    const { port } = service.address() as AddressInfo;
    system = await startFiguresSystem(`
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: orders }
spec: { prefix: /orders/, service: "127.0.0.1:${port}", grpc: true }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: closed }
spec: { prefix: /closed/, service: "127.0.0.1:1", grpc: true, closed: true }
`);
  });
  after(async () => {
    await system.stop();
    service.close();
  });

  test('count what a service fails, and neither what clients cancel nor what they ask wrongly', async () => {
    // Series begin with the first push, and what is logged before it is not in them.
    await system.figuresWhen(({ sources }) => sources.length > 0, 'a first push');
    for (const call of ['0', '13', '14', 'alone/2', '5'])
      assert.equal((await fetch(`${system.edge}/orders/${call}`, GRPC)).status, 200);
    const cancelled = new AbortController();
    await fetch(`${system.edge}/orders/open`, { ...GRPC, signal: cancelled.signal });
    cancelled.abort();
    assert.equal((await fetch(`${system.edge}/closed/`, GRPC)).status, 200);
    const page = await system.figuresWhen(
      ({ mappings, requests, upstreams }) =>
        requests.length === 7 &&
        mappings['Mapping/default/orders']?.lastMinute.requests === 6 &&
        upstreams.some(({ lastMinute: { requests } }) => requests === 6),
      'all calls are counted',
    );
    const { clientErrors, serverErrors } =
      page.mappings['Mapping/default/orders']?.lastMinute ?? {};
    assert.deepEqual([clientErrors, serverErrors], [1, 3]);
    const seen = page.upstreams.find(({ origins }) => origins.includes('Mapping/default/orders'));
    assert.deepEqual([seen?.lastMinute.answers, seen?.lastMinute.serverErrors], [3, 3]);
    const told = page.requests.map(({ grpcStatus, path, status, weight }) =>
      [path, status, grpcStatus ?? 'none', weight].join(' '),
    );
    assert.deepEqual(told.toSorted(), [
      '/closed/ 500 UNKNOWN 1',
      '/orders/0 200 OK 1',
      '/orders/13 500 INTERNAL 1',
      '/orders/14 503 UNAVAILABLE 1',
      '/orders/5 404 NOT_FOUND 1',
      '/orders/alone/2 500 UNKNOWN 1',
      '/orders/open 200 none 1',
    ]);
    const edge = await system.figuresWhen(
      ({ traffic }) => sum(traffic.serverErrors) === 4,
      'the edge counts the closed path too',
    );
    assert.equal(sum(edge.traffic.clientErrors), 1);
  });

  test('the access log has the status by name', async () => {
    const line = await until(() =>
      system.envoy
        .log()
        .split('\n')
        .find(each => each.includes('"path":"/orders/14"')),
    );
    const { grpc_status, status } = JSON.parse(line);
    assert.deepEqual([grpc_status, status], ['Unavailable', 200]);
  });
});

/** Answers with the `grpc-status` at the end of the path, in headers alone or in trailers. */
function answer(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders): void {
  const [, alone, asked] = /^\/(alone\/)?(.*)$/.exec(headers[':path'] ?? '') ?? [];
  const status = { 'grpc-status': asked };
  const answered = { ':status': 200, 'content-type': 'application/grpc' };
  stream.on('error', () => {});
  if (alone !== undefined) {
    stream.respond({ ...answered, ...status }, { endStream: true });
    return;
  }
  stream.respond(answered, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(status));
  if (asked !== 'open') stream.end('message');
  else stream.write('message');
}

function sum(values: readonly number[]): number {
  return values.reduce((all, each) => all + each, 0);
}
