import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { listenLocally } from '#envoy/e2e/local-server.ts';
import { until } from '#envoy/e2e/until.ts';
import { serve } from '#grpc/serve.ts';
import {
  type Collector,
  startCollector,
  whyNoCollector,
} from '../../../envoy/testing/collector.ts';
import { type CompiledEnvoy, startCompiled } from './compiled-envoy.ts';
import { startEchoServer } from './echo-server.ts';
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;

const document = (kind: string, spec: object) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: a}\nspec: ${JSON.stringify(spec)}\n`;

type Upstream = Awaited<ReturnType<typeof startEchoServer>>;
let upstream: Upstream;
before(async () => {
  upstream = await startEchoServer('up');
});
after(() => upstream.close());

const edgeWith = (...documents: readonly string[]): Promise<CompiledEnvoy> =>
  startCompiled(
    [
      ...documents,
      document('Mapping', { prefix: '/a/', service: upstream.address }),
      document('ProxyConfig', {
        node_group: 'edge',
        listener: { address: '127.0.0.1', port: 18_080 },
      }),
    ].join(''),
    'edge',
    anyPort,
  );

/** Every Envoy of these tests listens on a port of its own. */
function anyPort<T extends object>(bootstrap: T): T {
  return JSON.parse(
    JSON.stringify(bootstrap).replaceAll('"port_value":18080', '"port_value":0'),
  ) as T;
}

describe('spans', { skip: whyNoCollector() ?? false }, () => {
  let collector: Collector;
  before(async () => {
    collector = await startCollector();
  });
  after(() => collector.stop());

  const spansOf = (path: string, service: string) =>
    until(async () => {
      const all = await collector.spans();
      const found = all.filter(
        ({ attributes, ...span }) =>
          attributes['url.path'] === path && span.kind === 'server' && span.service === service,
      );
      return found.length > 0 ? found : undefined;
    });

  test('go to Zipkin, and services get the headers of W3C beside those of Zipkin', async () => {
    const spec = {
      service: collector.zipkin,
      driver: 'zipkin',
      tag_headers: ['x-tenant', ':path'],
    };
    const edge = await edgeWith(document('TracingService', spec));
    const { headers } = await edge.echo('/a/zipkin?token=secret', {
      headers: { traceparent: TRACEPARENT, b3: '0', 'x-tenant': 'blue' },
    });
    const [span] = await spansOf('/a/zipkin', 'test');
    assert.equal(headers.traceparent?.slice(3, 35), span?.traceId);
    assert.equal(headers['x-b3-traceid'], span?.traceId);
    assert.notEqual(span?.traceId, TRACE);
    assert.equal(span?.attributes['x-tenant'], 'blue');
    assert.equal(span?.attributes[':path'], '/a/zipkin');
    await edge.stop();
  });

  for (const driver of ['opentelemetry', 'zipkin'] as const)
    test(`of ${driver} continue a client's trace where that is asked for, if it is kept`, async () => {
      const service = driver === 'zipkin' ? collector.zipkin : collector.grpc;
      const path = `/a/continued-${driver}`;
      const edge = await edgeWith(
        document('TracingService', { service, driver, continue_client_traces: true }),
      );
      const dropped = `00-${TRACE.replace('0', '1')}-b7ad6b7169203331-00`;
      const { headers } = await edge.echo(path, { headers: { traceparent: dropped } });
      assert.equal(headers.traceparent?.slice(0, 35), dropped.slice(0, 35));
      assert.match(String(headers.traceparent), /-00$/);
      await edge.echo(path, { headers: { traceparent: TRACEPARENT } });
      const [span, ...more] = await spansOf(path, driver === 'zipkin' ? 'test' : 'edge');
      assert.equal(span?.traceId, TRACE);
      assert.equal(span.parentSpanId, 'b7ad6b7169203331');
      assert.deepEqual(more, []);
      await edge.stop();
    });

  for (const spawn_upstream_span of [true, false])
    test(`tell each try apart ${spawn_upstream_span ? 'where that is asked for' : 'nowhere else'}`, async () => {
      const path = `/a/tries-${spawn_upstream_span}`;
      const driver = 'opentelemetry';
      const edge = await edgeWith(
        document('TracingService', { service: collector.grpc, driver, spawn_upstream_span }),
      );
      const { headers } = await edge.echo(path);
      const [span] = await spansOf(path, 'edge');
      const trace = (await collector.spans()).filter(({ traceId }) => traceId === span?.traceId);
      const tries = trace.filter(({ kind }) => kind === 'client');
      assert.equal(tries.length, spawn_upstream_span ? 1 : 0);
      assert.equal(span?.attributes.attempts, '1');
      const [parent = span] = tries;
      assert.equal(headers.traceparent?.slice(36, 52), parent?.spanId);
      await edge.stop();
    });

  test('are sampled, and a client cannot ask for more', async () => {
    const sampling = { random: 0, client: 0 };
    const spec = { service: collector.grpc, driver: 'opentelemetry', sampling };
    const edge = await edgeWith(document('TracingService', spec));
    const { headers } = await edge.echo('/a/unsampled', {
      headers: {
        traceparent: TRACEPARENT,
        'x-client-trace-id': 'a',
        'x-envoy-force-trace': 'true',
        'x-request-id': '0af76519-16cd-a3dd-8448-eb211c80319c',
      },
    });
    assert.match(String(headers.traceparent), /-00$/);
    await edge.stop();
  });

  test('of a malformed header begin a trace', async () => {
    const edge = await edgeWith(
      document('TracingService', { service: collector.grpc, driver: 'opentelemetry' }),
    );
    for (const traceparent of ['', 'x', '00', `ff-${TRACE}-0-01`, 'x'.repeat(5_000)])
      assert.match(
        String((await edge.echo('/a/malformed', { headers: { traceparent } })).headers.traceparent),
        /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/,
      );
    await edge.stop();
  });

  for (const driver of ['opentelemetry', 'zipkin'] as const)
    test(`of ${driver} hold no query, whatever a client says`, async () => {
      const service = driver === 'zipkin' ? collector.zipkin : collector.grpc;
      const path = `/a/query-of-${driver}`;
      const edge = await edgeWith(document('TracingService', { service, driver }));
      for (const type of ['application/grpc', 'application/grpc+proto', 'text/plain'])
        await edge.ask(`${path}?token=secret`, {
          method: 'POST',
          headers: {
            'content-type': type,
            referer: 'http://localhost/?token=secret',
            cookie: 'a=secret',
            authorization: 'Bearer secret',
            'x-envoy-original-path': '/?token=secret',
            'x-forwarded-host': 'secret',
          },
        });
      await until(async () => {
        const spans = await spansOf(path, driver === 'zipkin' ? 'test' : 'edge');
        return spans.length === 3 || undefined;
      });
      assert.ok(!(await collector.text()).includes('secret'));
      await edge.stop();
    });

  test('are lost where no collector is, and requests go on', async () => {
    const edge = await edgeWith(
      document('TracingService', { service: '127.0.0.1:9', driver: 'opentelemetry' }),
      document('LogService', { service: '127.0.0.1:9', driver: 'opentelemetry' }),
    );
    for (let count = 0; count < 20; count += 1)
      assert.equal((await edge.ask('/a/lost')).status, 200);
    await edge.stop();
  });
});

describe('what goes out by OTLP', () => {
  let receiver: OtlpReceiver;
  before(async () => {
    receiver = await startOtlpReceiver();
  });
  after(() => receiver.stop());

  /** Bytes of a header, as Node sends them, beside text by which they are found. */
  const NO_UTF8 = '\xffodd';
  const PLAIN = 'caf\xc3\xa9';
  const header_name = 'x-tenant';

  const sent = (text: string) =>
    until(() => receiver.messages.find(message => message.includes(text, 0, 'latin1')));

  for (const [kind, extra] of [
    ['LogService', { driver_config: { additional_log_headers: [{ header_name }] } }],
    ['TracingService', { tag_headers: [header_name] }],
    [
      'TracingService',
      {
        custom_tags: [{ tag: 'a', request_header: { name: header_name, default_value: "')% \\" } }],
      },
    ],
  ] as const)
    test(`has no bytes of a client that are not UTF-8, by a ${kind} with ${Object.keys(extra)}`, async () => {
      const spec = { service: receiver.address, driver: 'opentelemetry', ...extra };
      const edge = await edgeWith(document(kind, spec));
      const ask = async (path: string, text: string, name = header_name) => {
        const headers = { 'user-agent': text, 'x-client-trace-id': text, [name]: text };
        assert.equal((await edge.ask(path, { headers })).status, 200);
      };
      receiver.messages.length = 0;
      await ask('/a/odd', NO_UTF8);
      await ask('/a/cut', `${'a'.repeat(499)}${PLAIN}`);
      await ask('/a/plain', PLAIN);
      await ask('/a/absent', 'here', 'x-other');
      for (const path of ['odd', 'cut', 'plain', 'absent']) await sent(`/a/${path}`);
      const all = Buffer.concat(receiver.messages).toString('latin1');
      assert.ok(!all.includes(NO_UTF8));
      assert.doesNotMatch(all, /a{490}caf\xc3(?!\xa9)/);
      assert.equal(all.split('not UTF-8').length - 1, kind === 'LogService' ? 3 : 4);
      assert.ok(all.includes(PLAIN));
      if ('tag_headers' in extra) assert.equal(all.split(header_name).length - 1, 3);
      if ('custom_tags' in extra) assert.ok(all.includes("')% \\"));
      await edge.stop();
    });
});

test('a collector that hangs holds up no calls for longer than 5 s', async () => {
  const receiver = await startOtlpReceiver('hangs');
  const spec = { service: receiver.address, driver: 'opentelemetry' };
  const edge = await edgeWith(document('TracingService', spec), document('LogService', spec));
  assert.equal((await edge.ask('/a/held')).status, 200);
  for (const cluster of ['log-service', 'tracing-service'])
    await until(async () => {
      const stats = await edge.get(`/stats?filter=^cluster.${cluster}.upstream_rq_`);
      const isEnded = /max_duration_reached: [1-9]/.test(stats) && /rq_active: 0/.test(stats);
      return isEnded || undefined;
    }, 20_000);
  await edge.stop();
  await receiver.stop();
});

const callsCounted = (edge: CompiledEnvoy, cluster: string) =>
  until(async () => {
    assert.equal((await edge.ask('/a/refused')).status, 200);
    const stats = await edge.get(`/stats?filter=^cluster.${cluster}.outlier_detection`);
    assert.match(stats, /ejections_enforced_total: 0/);
    return /ejections_detected_consecutive_5xx: [2-9]/.test(stats) || undefined;
  }, 20_000);

for (const host of ['127.0.0.1', 'localhost'])
  test(`each call that a collector at ${host} answers with an error is counted`, async () => {
    const receiver = await startOtlpReceiver('rejects');
    const service = receiver.address.replace('127.0.0.1', host);
    const spec = { service, driver: 'opentelemetry' };
    const edge = await edgeWith(document('TracingService', spec), document('LogService', spec));
    for (const cluster of ['log-service', 'tracing-service']) await callsCounted(edge, cluster);
    await edge.stop();
    await receiver.stop();
  });

test('each call to Zipkin that is answered 404 is counted', async () => {
  const server = createServer((_request, response) => response.writeHead(404).end());
  const { close, port } = await listenLocally(server);
  const spec = { service: `127.0.0.1:${port}`, driver: 'zipkin' };
  const edge = await edgeWith(document('TracingService', spec));
  await callsCounted(edge, 'tracing-service');
  await edge.stop();
  await close();
});

type Entry = {
  readonly request?: { readonly path: string; readonly request_headers: object };
  readonly response?: { readonly response_headers: object };
  readonly common_properties: { readonly upstream_cluster: string };
};
type Message = {
  readonly http_logs?: { readonly log_entry: readonly Entry[] } | null;
  readonly tcp_logs?: { readonly log_entry: readonly Entry[] } | null;
};

describe("Envoy's log service", () => {
  const entries: { readonly kind: 'http' | 'tcp'; readonly entry: Entry }[] = [];
  let service: Awaited<ReturnType<typeof serve>>;
  before(async () => {
    const StreamAccessLogs = (call: NodeJS.EventEmitter) =>
      call.on('data', ({ http_logs, tcp_logs }: Message) => {
        for (const entry of http_logs?.log_entry ?? []) entries.push({ kind: 'http', entry });
        for (const entry of tcp_logs?.log_entry ?? []) entries.push({ kind: 'tcp', entry });
      });
    service = await serve({
      host: '127.0.0.1',
      port: 0,
      services: { 'envoy.service.accesslog.v3.AccessLogService': { StreamAccessLogs } },
    });
  });
  after(() => service.stop(100));

  const firstOf = (kind: 'http' | 'tcp') =>
    until(() => entries.find(each => each.kind === kind)?.entry);

  test('gets entries with the headers that are asked for', async () => {
    const additional_log_headers = [
      { header_name: 'X-Tenant', during_response: false },
      { header_name: 'content-type', during_request: false },
    ];
    const edge = await edgeWith(
      document('LogService', {
        service: `127.0.0.1:${service.port}`,
        driver: 'http',
        driver_config: { additional_log_headers },
        flush_interval_byte_size: 0,
      }),
    );
    await edge.ask('/a/logged', {
      headers: { 'x-tenant': 'blue', cookie: 'a=secret', authorization: 'Bearer secret' },
    });
    const { request, response } = await firstOf('http');
    assert.equal(request?.path, '/logged');
    assert.deepEqual({ ...request.request_headers }, { 'x-tenant': 'blue' });
    assert.deepEqual(Object.keys(response?.response_headers ?? {}), ['content-type']);
    assert.ok(!JSON.stringify(entries).includes('secret'));
    await edge.stop();
  });

  test('gets what is known of the connection with the driver tcp', async () => {
    const edge = await edgeWith(
      document('LogService', {
        service: `127.0.0.1:${service.port}`,
        driver: 'tcp',
        flush_interval_byte_size: 0,
      }),
    );
    await edge.ask('/a/secret');
    const entry = await firstOf('tcp');
    assert.equal(entry.common_properties.upstream_cluster, upstream.address);
    assert.ok(!JSON.stringify(entry).includes('secret'));
    await edge.stop();
  });
});
