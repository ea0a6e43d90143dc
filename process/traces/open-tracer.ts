import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { Eventually } from '#process/eventually.ts';
import { refusalLog } from '#process/refusal-log.ts';
import type { Sampling, TraceSettings } from './trace-settings.ts';
import type { SpanAttributes, SpanStart, Traces } from './traces.ts';

/** While the collector fails, one line is logged in this time, in ms. */
const QUIET_MS = 60_000;
/** The process ends soon after it was asked to. */
const CLOSE_MS = 300;
const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

/**
 * Opens traces that OpenTelemetry's SDK sends by OTLP. `exporter` is another way out, for tests.
 */
export function openTracer(
  service: string,
  { batch, sampling }: TraceSettings,
  log: Logger,
  exporter: SpanExporter = new OTLPTraceExporter(),
): Traces {
  setGlobalErrorHandler(collectorLog(log));
  const processor = new BatchSpanProcessor({ exporter, ...batch });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    sampler: samplerOf(sampling),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer('gateway');
  const running = new AsyncLocalStorage<Context | typeof NOT_KEPT>();
  return {
    span: (start, work, ended) => {
      const around = running.getStore();
      if (start.caller === undefined && around === NOT_KEPT) return work();
      if (sampling.parentBased && isNotKept(start)) return running.run(NOT_KEPT, work);
      const context = contextOf(start, around === NOT_KEPT ? undefined : around);
      const { attributes, kind, name } = start;
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, context);
      return running.run(trace.setSpan(context, span), () => finish(span, work, ended));
    },
    annotate: attributes => {
      const context = running.getStore();
      if (context !== undefined && context !== NOT_KEPT)
        trace.getSpan(context)?.setAttributes(attributes);
    },
    close: async () => {
      const late = new Promise<void>(resolve => setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([provider.shutdown().catch(() => {}), late]);
    },
  };
}

/** What runs is part of a trace that the caller does not keep. It makes no spans. */
const NOT_KEPT = Symbol('not kept');
/** With few traces kept this is nearly each call, so nothing more is read of it. */
const TRACEPARENT_NOT_KEPT = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f][02468ace]$/;

/** Source: W3C, "Trace Context", section 3.2. The lowest bit of the flags says what is kept. */
function isNotKept({ caller }: SpanStart): boolean {
  return caller !== undefined && TRACEPARENT_NOT_KEPT.test(caller('traceparent'));
}

const PROPAGATOR = new W3CTraceContextPropagator();
const READ_HEADER = {
  keys: () => [],
  get: (header: (name: string) => string, name: string) => header(name) || undefined,
};

function contextOf({ caller }: SpanStart, running: Context = ROOT_CONTEXT): Context {
  return caller === undefined ? running : PROPAGATOR.extract(ROOT_CONTEXT, caller, READ_HEADER);
}

function finish<T>(
  span: Span,
  work: () => Eventually<T>,
  ended: (result: T) => SpanAttributes = () => ({}),
): Eventually<T> {
  const end = (result: T) => {
    const attributes = ended(result);
    if ('error.type' in attributes) span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttributes(attributes).end();
    return result;
  };
  const fail = (error: unknown): never => {
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttribute('error.type', codeOf(error) ?? 'Error').end();
    throw error;
  };
  try {
    const result = work();
    return result instanceof Promise ? result.then(end, fail) : end(result);
  } catch (error) {
    return fail(error);
  }
}

function samplerOf({ parentBased, ratio }: Sampling): Sampler {
  const root = rootSampler(ratio);
  return parentBased ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(ratio: number): Sampler {
  if (ratio === 1) return new AlwaysOnSampler();
  return ratio === 0 ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}

/** Errors of the exporter may hold what the collector has answered, and where it is. */
function collectorLog(log: Logger): (error: unknown) => void {
  const quietly = refusalLog(log, () => performance.now(), QUIET_MS);
  return error => {
    const reason = codeOf(error) ?? 'no answer';
    quietly({ reason }, 'spans could not be sent (logged once a minute)');
  };
}

/** Messages may hold what clients and peers have sent. Codes and names are words of the code. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error ? String(error.code) : error.name;
  return /^\w{1,64}$/.test(code) ? code : undefined;
}
