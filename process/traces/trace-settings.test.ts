import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTraceSettings } from './trace-settings.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

for (const env of [
  {},
  { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' },
  { OTEL_SERVICE_NAME: 'a', OTEL_TRACES_SAMPLER: 'always_on' },
  { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' },
  { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
  { OTEL_SDK_DISABLED: 'true', OTEL_TRACES_EXPORTER: 'console' },
])
  test(`traces are off with ${JSON.stringify(env)}`, () =>
    assert.equal(readTraceSettings(env), undefined));

const BATCH = {
  scheduledDelayMillis: 5_000,
  exportTimeoutMillis: 30_000,
  maxQueueSize: 2_048,
  maxExportBatchSize: 512,
};

for (const env of [
  ENDPOINT,
  { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/v1/traces' },
  { OTEL_TRACES_EXPORTER: 'otlp' },
  { ...ENDPOINT, OTEL_PROPAGATORS: 'b3, tracecontext,baggage' },
  { ...ENDPOINT, OTEL_SDK_DISABLED: 'false', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' },
  {
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi==, x-scope = a,',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_TIMEOUT: '2500',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=a%2Cb,k=v',
  },
])
  test(`traces are on with ${JSON.stringify(env)}`, () =>
    assert.deepEqual(readTraceSettings(env), {
      sampling: { parentBased: true, ratio: 1 },
      batch: BATCH,
      files: [],
    }));

for (const [sampler, argument, parentBased, ratio] of [
  ['always_on', '', false, 1],
  ['always_off', '0.5', false, 0],
  ['traceidratio', '0.25', false, 0.25],
  ['traceidratio', '', false, 1],
  ['parentbased_always_on', '', true, 1],
  ['parentbased_always_off', '', true, 0],
  ['parentbased_traceidratio', '0', true, 0],
] as const)
  test(`the sampler ${sampler} with "${argument}" keeps ${ratio} of what begins here`, () =>
    assert.deepEqual(
      readTraceSettings({
        ...ENDPOINT,
        OTEL_TRACES_SAMPLER: sampler,
        OTEL_TRACES_SAMPLER_ARG: argument,
      })?.sampling,
      { parentBased, ratio },
    ));

test('a small queue makes small batches', () =>
  assert.deepEqual(
    readTraceSettings({
      ...ENDPOINT,
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_BSP_EXPORT_TIMEOUT: '20',
      OTEL_BSP_MAX_QUEUE_SIZE: '30',
    })?.batch,
    {
      scheduledDelayMillis: 10,
      exportTimeoutMillis: 20,
      maxQueueSize: 30,
      maxExportBatchSize: 30,
    },
  ));

const WRONG: readonly [env: Readonly<Record<string, string>>, message: RegExp][] = [
  [{ OTEL_TRACES_EXPORTER: 'console' }, /^OTEL_TRACES_EXPORTER: want `otlp` or `none`$/],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'user:secret@collector' },
    /^OTEL_EXPORTER_OTLP_ENDPOINT: want a URL, such as http:\/\/127.0.0.1:4318$/,
  ],
  [
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'ftp://collector' },
    /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: want a URL/,
  ],
  [
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    /^OTEL_EXPORTER_OTLP_PROTOCOL: want `http\/protobuf`, which is the only protocol here$/,
  ],
  [
    { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'sometimes' },
    /^OTEL_TRACES_SAMPLER: want one of always_on/,
  ],
  [{ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'parentbased_' }, /^OTEL_TRACES_SAMPLER: want one of/],
  ...['2', '-0.1', 'half'].map(
    argument =>
      [
        {
          ...ENDPOINT,
          OTEL_TRACES_SAMPLER: 'traceidratio',
          OTEL_TRACES_SAMPLER_ARG: argument,
        },
        /^OTEL_TRACES_SAMPLER_ARG: want a number from 0 to 1$/,
      ] as [Readonly<Record<string, string>>, RegExp],
  ),
  [
    { ...ENDPOINT, OTEL_BSP_MAX_QUEUE_SIZE: '65537' },
    /^OTEL_BSP_MAX_QUEUE_SIZE: want an integer from 1 to 65536$/,
  ],
  [
    { ...ENDPOINT, OTEL_BSP_MAX_QUEUE_SIZE: '10', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '11' },
    /^OTEL_BSP_MAX_EXPORT_BATCH_SIZE: want an integer from 1 to 10$/,
  ],
  ...['b3', 'none', 'Tracecontext'].map(
    propagators =>
      [
        { ...ENDPOINT, OTEL_PROPAGATORS: propagators },
        /^OTEL_PROPAGATORS: want `tracecontext` among them, which is the only one here$/,
      ] as [Readonly<Record<string, string>>, RegExp],
  ),
  [{ ...ENDPOINT, OTEL_BSP_SCHEDULE_DELAY: '0' }, /^OTEL_BSP_SCHEDULE_DELAY: want/],
  ...['secret', 'authorization=', 'a b=secret', 'a=%zz', 'a=b%0aX', 'a=b,c'].map(
    headers =>
      [
        { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: headers },
        /^OTEL_EXPORTER_OTLP_HEADERS: want `name=value` with commas between, and %XX for other characters$/,
      ] as [Readonly<Record<string, string>>, RegExp],
  ),
  [
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'secret' },
    /^OTEL_EXPORTER_OTLP_TRACES_HEADERS: want/,
  ],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_TIMEOUT: '10s' }, /^OTEL_EXPORTER_OTLP_TIMEOUT: want ms/],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '0' }, /_TRACES_TIMEOUT: want ms above 0$/],
  [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_COMPRESSION: 'zstd' }, /_COMPRESSION: want `gzip` or `none`$/],
  [{ ...ENDPOINT, OTEL_RESOURCE_ATTRIBUTES: 'a' }, /^OTEL_RESOURCE_ATTRIBUTES: want `key=value`/],
];

for (const [env, message] of WRONG)
  test(`${JSON.stringify(env)} names the variable and not its value`, () =>
    assert.throws(() => readTraceSettings(env), { message }));
