import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace';
import pino from 'pino';
import { failure, type UnaryMethod } from '#grpc/unary/method.ts';
import { openTracer } from './open-tracer.ts';
import { readTraceSettings } from './trace-settings.ts';
import { tracedMethod } from './traced-method.ts';
import type { Traces } from './traces.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const silent = pino({ level: 'silent' });

function opened(variables: Readonly<Record<string, string>> = {}) {
  const kept: ReadableSpan[] = [];
  const exporter = new InMemorySpanExporter();
  const { export: send } = exporter;
  exporter.export = (spans, done) => {
    kept.push(...spans);
    send.call(exporter, spans, done);
  };
  const settings = readTraceSettings({ OTEL_TRACES_EXPORTER: 'otlp', ...variables });
  assert.ok(settings);
  return { traces: openTracer('sample', settings, silent, exporter), kept };
}

const caller = (traceparent: string) => (name: string) =>
  name === 'traceparent' ? traceparent : '';
const checked = (traceparent: string) =>
  ({ name: 'check', kind: 'server', attributes: {}, caller: caller(traceparent) }) as const;

async function store(traces: Traces): Promise<number> {
  return traces.span({ name: 'store', kind: 'client', attributes: {} }, async () => {
    await new Promise(resolve => setImmediate(resolve));
    return 1;
  });
}

test('spans continue the trace of the caller, and belong to what runs around them', async () => {
  const { kept, traces } = opened();
  await Promise.all(
    ['1', '2'].map(number =>
      traces.span(checked(`00-${TRACE.slice(0, -1)}${number}-${SPAN}-01`), async () => {
        await store(traces);
        traces.annotate({ number });
        return store(traces);
      }),
    ),
  );
  await traces.close();
  for (const number of ['1', '2']) {
    const own = kept.filter(span => span.spanContext().traceId.endsWith(number));
    const check = own.find(({ name }) => name === 'check');
    assert.deepEqual(check?.attributes, { number });
    assert.equal(check?.parentSpanContext?.spanId, SPAN);
    assert.deepEqual(
      own.filter(({ name }) => name === 'store').map(span => span.parentSpanContext?.spanId),
      [check.spanContext().spanId, check.spanContext().spanId],
    );
  }
  assert.equal(kept[0]?.resource.attributes['service.name'], 'sample');
});

test('what the caller does not keep is not kept, nor what runs in it', async () => {
  const { kept, traces } = opened();
  const checks = ['00', '02'].map(flags =>
    traces.span(checked(`00-${TRACE}-${SPAN}-${flags}`), async () => {
      traces.annotate({ number: 1 });
      return store(traces);
    }),
  );
  assert.deepEqual(await Promise.all(checks), [1, 1]);
  await traces.span(checked(`00-${TRACE}-${SPAN}-03`), () => 1);
  await traces.close();
  assert.equal(kept.length, 1);
});

test('a sampler that asks no parent keeps what the caller does not', async () => {
  const { kept, traces } = opened({ OTEL_TRACES_SAMPLER: 'always_on' });
  traces.span(checked(`00-${TRACE}-${SPAN}-00`), () => 1);
  await traces.close();
  assert.equal(kept.length, 1);
});

for (const traceparent of ['', 'x', `00-${'0'.repeat(32)}-${SPAN}-01`, `ff-${TRACE}-${SPAN}-01`])
  test(`the header "${traceparent}" begins a trace`, async () => {
    const { kept, traces } = opened();
    assert.equal(
      traces.span(checked(traceparent), () => 1),
      1,
    );
    await traces.close();
    assert.deepEqual(
      kept.map(({ parentSpanContext }) => parentSpanContext),
      [undefined],
    );
  });

test('an error ends the span, and its message is not told', async () => {
  const { kept, traces } = opened();
  const start = { name: 'store', kind: 'client', attributes: {} } as const;
  const error = new TypeError('secret');
  assert.throws(
    () =>
      traces.span(start, () => {
        throw error;
      }),
    error,
  );
  const late = Object.assign(new Error('secret'), { code: 'timeout' });
  await assert.rejects(async () => traces.span(start, () => Promise.reject(late)), late);
  await traces.close();
  assert.deepEqual(
    kept.map(({ attributes, events, status }) => ({ attributes, events, status })),
    ['TypeError', 'timeout'].map(type => ({
      attributes: { 'error.type': type },
      events: [],
      status: { code: 2 },
    })),
  );
});

test('a sampler leaves traces out that begin here', async () => {
  const { kept, traces } = opened({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
  await store(traces);
  traces.span(checked(`00-${TRACE}-${SPAN}-01`), () => 1);
  await traces.close();
  assert.deepEqual(
    kept.map(({ name }) => name),
    ['check'],
  );
});

const method: UnaryMethod<{ ok: boolean }, { done: boolean }> = {
  path: '/a.b.Service/Call',
  decode: () => ({ ok: true }),
  encode: () => new Uint8Array(),
  handle: ({ ok }) => (ok ? { done: true } : failure('UNAVAILABLE', 'secret')),
};

test('a method without traces is the method itself', () =>
  assert.equal(tracedMethod(method, undefined), method));

test('a method has a span for each call', async () => {
  const { kept, traces } = opened();
  const traced = tracedMethod(method, traces);
  const call = { metadata: caller(`00-${TRACE}-${SPAN}-01`), timeoutMs: undefined };
  assert.deepEqual(traced.handle({ ok: true }, call), { done: true });
  traced.handle({ ok: false }, call);
  await traces.close();
  const told = { 'rpc.system': 'grpc', 'rpc.service': 'a.b.Service', 'rpc.method': 'Call' };
  assert.deepEqual(
    kept.map(({ attributes, name }) => ({ name, ...attributes })),
    [
      { name: 'a.b.Service/Call', ...told, 'rpc.grpc.status_code': 0 },
      {
        name: 'a.b.Service/Call',
        ...told,
        'rpc.grpc.status_code': 14,
        'error.type': 'UNAVAILABLE',
      },
    ],
  );
});
