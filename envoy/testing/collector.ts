import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#grpc/testing/free-port.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import { until } from '../e2e/until.ts';

/** A span as the collector has it. */
export type Span = {
  readonly service: string;
  readonly name: string;
  /** Source: OpenTelemetry's `SpanKind`. */
  readonly kind: 'internal' | 'server' | 'client' | 'other';
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, string>>;
};

/** An entry of a log as the collector has it. */
export type LogEntry = {
  readonly service: string;
  readonly traceId: string;
  readonly attributes: Readonly<Record<string, string>>;
};

/** A real OpenTelemetry collector on ports of its own. */
export type Collector = {
  /** OTLP over gRPC, as `host:port`. */
  readonly grpc: string;
  /** OTLP over HTTP, as a URL. */
  readonly http: string;
  /** Zipkin's API, as `host:port`. */
  readonly zipkin: string;
  spans(): Promise<readonly Span[]>;
  logs(): Promise<readonly LogEntry[]>;
  /** All that has come, as text. */
  text(): Promise<string>;
  stop(): Promise<void>;
};

const COMMAND = 'gateway-collector';

/**
 * Returns why there is no collector for tests.
 * @returns undefined when there is one
 */
export function whyNoCollector(): string | undefined {
  return findTool(COMMAND).skip || undefined;
}

/** Starts a collector, and waits until it listens. */
export async function startCollector(): Promise<Collector> {
  const home = await mkdtemp(join(tmpdir(), 'gateway-collector-'));
  const [grpc, http, zipkin] = await Promise.all([freePort(), freePort(), freePort()]);
  const files = { traces: join(home, 'traces.json'), logs: join(home, 'logs.json') };
  const config = join(home, 'config.yaml');
  await writeFile(config, JSON.stringify(configuration({ grpc, http, zipkin }, files)));
  const child = spawn(findTool(COMMAND).path, ['--config', `file:${config}`], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, COLLECTOR_EXIT_WITH_STDIN: '1' },
  });
  const said: string[] = [];
  child.stderr.on('data', chunk => said.push(String(chunk)));
  const exited = once(child, 'exit');
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`the collector ended: ${said.join('')}`);
    const open = await Promise.all([grpc, http, zipkin].map(isOpen));
    return open.every(Boolean) || undefined;
  });
  const lines = async (file: string) => {
    const text = existsSync(file) ? await readFile(file, 'utf8') : '';
    // The last line may still be on its way.
    return text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line) as Exported);
  };
  return {
    grpc: `127.0.0.1:${grpc}`,
    http: `http://127.0.0.1:${http}`,
    zipkin: `127.0.0.1:${zipkin}`,
    spans: async () => (await lines(files.traces)).flatMap(spansOf),
    logs: async () => (await lines(files.logs)).flatMap(logsOf),
    text: async () => JSON.stringify([await lines(files.traces), await lines(files.logs)]),
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
      await rm(home, { recursive: true, force: true });
    },
  };
}

function configuration(
  { grpc, http, zipkin }: Readonly<Record<'grpc' | 'http' | 'zipkin', number>>,
  { logs, traces }: Readonly<Record<'logs' | 'traces', string>>,
): object {
  const at = (port: number) => ({ endpoint: `127.0.0.1:${port}` });
  const file = (path: string) => ({ path, flush_interval: '10ms' });
  return {
    receivers: { otlp: { protocols: { grpc: at(grpc), http: at(http) } }, zipkin: at(zipkin) },
    exporters: { 'file/traces': file(traces), 'file/logs': file(logs) },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: {
        traces: { receivers: ['otlp', 'zipkin'], exporters: ['file/traces'] },
        logs: { receivers: ['otlp'], exporters: ['file/logs'] },
      },
    },
  };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

type Value = { readonly [type: string]: unknown };
type Attributes = readonly { readonly key: string; readonly value: Value }[];
type Resource = { readonly attributes?: Attributes };

/** OTLP in JSON, of which tests read this. */
type Exported = {
  readonly resourceSpans?: readonly {
    readonly resource: Resource;
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[];
  }[];
  readonly resourceLogs?: readonly {
    readonly resource: Resource;
    readonly scopeLogs: readonly { readonly logRecords: readonly ExportedLog[] }[];
  }[];
};

type ExportedSpan = Pick<Span, 'name' | 'traceId' | 'spanId'> & {
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes?: Attributes;
  readonly status?: { readonly code?: number };
};

type ExportedLog = { readonly traceId?: string; readonly attributes?: Attributes };

const KINDS = ['other', 'internal', 'server', 'client'] as const;
const ERROR = 2;

function spansOf({ resourceSpans = [] }: Exported): readonly Span[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ attributes, kind, name, parentSpanId = '', spanId, status, traceId }) => ({
        ...{ name, traceId, spanId, parentSpanId },
        service: serviceOf(resource),
        kind: KINDS[kind] ?? 'other',
        isError: status?.code === ERROR,
        attributes: toRecord(attributes),
      })),
    ),
  );
}

function logsOf({ resourceLogs = [] }: Exported): readonly LogEntry[] {
  return resourceLogs.flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) =>
      logRecords.map(({ attributes, traceId = '' }) => ({
        service: serviceOf(resource),
        traceId,
        attributes: toRecord(attributes),
      })),
    ),
  );
}

function serviceOf({ attributes }: Resource): string {
  return toRecord(attributes)['service.name'] ?? '';
}

function toRecord(attributes: Attributes = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]),
  );
}
