import type { Environment } from '#process/environment.ts';
import { checkExporterVariables, exporterFiles, type Text } from './exporter-variables.ts';

/** Which traces that begin here are kept. A trace of a caller is kept as the caller says. */
export type Sampling = {
  /** Whether the caller's word counts. */
  readonly parentBased: boolean;
  /** The part of all others, from 0 to 1. */
  readonly ratio: number;
};

export type TraceSettings = {
  readonly sampling: Sampling;
  /** Limits of the spans that wait to be sent. Source: OpenTelemetry's `OTEL_BSP_*`. */
  readonly batch: {
    readonly scheduledDelayMillis: number;
    readonly exportTimeoutMillis: number;
    readonly maxQueueSize: number;
    readonly maxExportBatchSize: number;
  };
  /** Files that the exporter reads, by the variables that name them. */
  readonly files: readonly (readonly [variable: string, file: string])[];
};

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
/** W3C's header, by which Envoy leads traces on to our services. */
const TRACE_CONTEXT = 'tracecontext';
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];

/**
 * Reads OpenTelemetry's variables for traces. They are on when a variable names where to send them.
 * The exporter reads its own variables by itself, after they were checked here. Source:
 * OpenTelemetry's page "Environment Variable Specification".
 * @returns undefined when traces are off
 * @throws an Error that names the variable and what it should be. It has no value in it, since a
 * URL may hold a password.
 */
export function readTraceSettings(env: Environment): TraceSettings | undefined {
  const text = (name: string) => env[name]?.trim() ?? '';
  if (text('OTEL_SDK_DISABLED').toLowerCase() === 'true') return undefined;
  const exporter = text('OTEL_TRACES_EXPORTER') || 'otlp';
  if (exporter === 'none') return undefined;
  const named = [...ENDPOINTS, 'OTEL_TRACES_EXPORTER'].some(name => text(name) !== '');
  if (!named) return undefined;
  if (exporter !== 'otlp') throw new Error('OTEL_TRACES_EXPORTER: want `otlp` or `none`');
  for (const name of ENDPOINTS) checkEndpoint(name, text(name));
  for (const name of PROTOCOLS)
    if (!['', 'http/protobuf'].includes(text(name)))
      throw new Error(`${name}: want \`http/protobuf\`, which is the only protocol here`);
  if (!(text('OTEL_PROPAGATORS') || TRACE_CONTEXT).split(/\s*,\s*/).includes(TRACE_CONTEXT))
    throw new Error(
      `OTEL_PROPAGATORS: want \`${TRACE_CONTEXT}\` among them, which is the only one here`,
    );
  checkExporterVariables(text);
  return { sampling: readSampling(text), batch: readBatch(text), files: exporterFiles(text) };
}

function checkEndpoint(name: string, url: string): void {
  if (url === '' || /^https?:$/.test(URL.parse(url)?.protocol ?? '')) return;
  throw new Error(`${name}: want a URL, such as http://127.0.0.1:4318`);
}

function readSampling(text: Text): Sampling {
  const sampler = text('OTEL_TRACES_SAMPLER') || 'parentbased_always_on';
  const [, parent, root = ''] = /^(parentbased_)?(.*)$/s.exec(sampler) ?? [];
  const parentBased = parent !== undefined;
  if (root === 'always_on') return { parentBased, ratio: 1 };
  if (root === 'always_off') return { parentBased, ratio: 0 };
  if (root !== 'traceidratio') throw new Error(`OTEL_TRACES_SAMPLER: want one of ${SAMPLERS}`);
  const ratio = Number(text('OTEL_TRACES_SAMPLER_ARG') || '1');
  if (ratio >= 0 && ratio <= 1) return { parentBased, ratio };
  throw new Error('OTEL_TRACES_SAMPLER_ARG: want a number from 0 to 1');
}

const SAMPLERS = ['', 'parentbased_']
  .flatMap(parent => ['always_on', 'always_off', 'traceidratio'].map(root => parent + root))
  .join(', ');

/** The most spans that may wait. Each has about a KiB. */
const MOST_WAITING = 65_536;
const MOST_MS = 3_600_000;

function readBatch(text: Text): TraceSettings['batch'] {
  const integer = (name: string, otherwise: number, most: number) => {
    const value = Number(text(name) || otherwise);
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new Error(`${name}: want an integer from 1 to ${most}`);
  };
  const maxQueueSize = integer('OTEL_BSP_MAX_QUEUE_SIZE', 2_048, MOST_WAITING);
  return {
    scheduledDelayMillis: integer('OTEL_BSP_SCHEDULE_DELAY', 5_000, MOST_MS),
    exportTimeoutMillis: integer('OTEL_BSP_EXPORT_TIMEOUT', 30_000, MOST_MS),
    maxQueueSize,
    maxExportBatchSize: integer(
      'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
      Math.min(512, maxQueueSize),
      maxQueueSize,
    ),
  };
}
