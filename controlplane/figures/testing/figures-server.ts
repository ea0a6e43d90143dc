import type { TestContext } from 'node:test';
import {
  type ChannelCredentials,
  type Client,
  type ClientWritableStream,
  credentials,
  makeClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import { compile } from '#controlplane/compile/compile.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { serve } from '#grpc/serve.ts';
import type { TlsServerOptions } from '#grpc/tls.ts';
import { DISCOVERY } from '#xds/discovery-methods.ts';
import type { Figures } from '../figures.ts';
import { FIGURES_DEFINITIONS } from '../figures-service.ts';
import { type FiguresParts, openFigures } from '../open-figures.ts';

/** The services of figures on a port of their own, for the groups `edge` and `orders`. */
export type FiguresServer = {
  readonly figures: Figures;
  readonly port: number;
  /** What failed inside. */
  readonly failures: readonly unknown[];
  /** Opens a client, which is one connection. */
  connect(credentials?: ChannelCredentials, options?: object): FiguresClient;
};

/** `code` is that of the stream's end. */
export type FigureStream = {
  send(...messages: readonly Buffer[]): void;
  end(): void;
  readonly code: Promise<number>;
};

export type FiguresClient = {
  metrics(): FigureStream;
  logs(): FigureStream;
  close(): void;
};

const AT = (port: number) => ({ host: '127.0.0.1', port });
const OPTIONS = { edge: AT(8080), sds: AT(1), extAuthz: AT(2), rateLimit: AT(3) };

/** Mapping `a` is at the edge, and leads to cluster `shop`. Mapping `b` is in group `orders`. */
const RESOURCES = `
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: a }
spec: { prefix: /a/, service: shop }
---
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: b }
spec: { prefix: /b/, service: stock, node_group: orders }
`;

export async function startFiguresServer(
  t: TestContext,
  parts: Partial<FiguresParts> & { readonly tls?: TlsServerOptions } = {},
): Promise<FiguresServer> {
  const failures: unknown[] = [];
  const opened = openFigures({
    connected: () => [],
    replicated: false,
    on: true,
    refuse: () => undefined,
    failed: error => failures.push(error),
    now: Date.now,
    after: () => () => {},
    ...parts,
  });
  const { resources } = resourceSetOf(RESOURCES);
  for (const group of ['edge', 'orders'])
    opened.compiled(group, compile(resources, group, OPTIONS));
  const served = await serve({
    host: '127.0.0.1',
    port: 0,
    services: opened.services,
    ...DISCOVERY,
    definitions: FIGURES_DEFINITIONS,
    tls: parts.tls,
  });
  t.after(() => served.stop(0));
  const connect = (how = credentials.createInsecure(), options = {}) => {
    const clientOf = (service: string): Client => {
      const Constructor = makeClientConstructor(FIGURES_DEFINITIONS[service] ?? {}, service);
      return new Constructor(`127.0.0.1:${served.port}`, how, options);
    };
    const metrics = clientOf('envoy.service.metrics.v3.MetricsService');
    const logs = clientOf('envoy.service.accesslog.v3.AccessLogService');
    const close = () => {
      metrics.close();
      logs.close();
    };
    t.after(close);
    return {
      metrics: () => open(metrics, 'StreamMetrics'),
      logs: () => open(logs, 'StreamAccessLogs'),
      close,
    };
  };
  return { figures: opened.figures, port: served.port, failures, connect };
}

function open(client: Client, method: string): FigureStream {
  let settle: (code: number) => void = () => {};
  const code = new Promise<number>(resolve => {
    settle = resolve;
  });
  const methods = client as unknown as Record<
    string,
    (done: (error: ServiceError | null) => void) => ClientWritableStream<Buffer>
  >;
  const call = methods[method]?.call(client, error => settle(error?.code ?? 0));
  call?.on('error', () => {});
  return {
    send: (...messages) => {
      for (const message of messages) call?.write(message);
    },
    end: () => call?.end(),
    code,
  };
}
