import type { RequestListener } from 'node:http';
import {
  type ChannelOptions,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { guardCalls } from './guard-calls.ts';
import { listen } from './listen.ts';
import { REFLECTION_SERVICES, reflectionHandlers } from './reflection.ts';
import { serviceDefinition } from './service.ts';
import type { TlsServerOptions } from './tls.ts';
import { MAX_STREAMS } from './unary/answering.ts';
import { within } from './within.ts';

export type ServeOptions = {
  host: string;
  /** 0 is any free port. */
  port: number;
  /** The handlers of each service by method name. Services are named in full. */
  services: Readonly<Record<string, UntypedServiceImplementation>>;
  /** Services whose messages are not read and written by the loaded API. */
  definitions?: Readonly<Record<string, ServiceDefinition>>;
  /** Answers plain HTTP/1.1 on the same port. Without it such requests get 404. */
  http?: RequestListener;
  options?: ChannelOptions;
  /** Mutual TLS. With it, no plain text is answered on the port. */
  tls?: TlsServerOptions | undefined;
};

export type Served = {
  address: string;
  port: number;
  /**
   * Sets what gRPC health says for the server ('') and all its services. A server starts
   * NOT_SERVING.
   */
  setServing(serving: boolean): void;
  /**
   * Sets NOT_SERVING, accepts no new connections, and gives calls in flight `graceMs` to end. Then
   * it cuts everything.
   */
  stop(graceMs: number): Promise<void>;
};

const LIMITS: ChannelOptions = {
  'grpc.max_receive_message_length': 4 * 1024 * 1024,
  'grpc.max_send_message_length': -1,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // Envoy opens a further connection when it needs more streams.
  'grpc.max_concurrent_streams': MAX_STREAMS,
  // Nobody reads its records of every call here.
  'grpc.enable_channelz': 0,
};

const HEALTH = 'grpc.health.v1.Health';

/**
 * Serves `services`, gRPC health and reflection of them, and plain HTTP/1.1, all on one port.
 * Rejects with the system's error, which names the address, when it cannot listen.
 */
export async function serve(options: ServeOptions): Promise<Served> {
  const server = new Server({ ...LIMITS, ...options.options });
  const names = Object.keys(options.services);
  for (const [name, handlers] of Object.entries(options.services)) {
    server.addService(options.definitions?.[name] ?? serviceDefinition(name), handlers);
  }
  const health = new HealthImplementation();
  health.addToServer(server);
  addReflection(server, [...names, HEALTH, ...REFLECTION_SERVICES]);
  const setServing = (serving: boolean) => {
    for (const name of ['', ...names]) health.setStatus(name, serving ? 'SERVING' : 'NOT_SERVING');
  };
  setServing(false);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  guardCalls(server);
  const listening = await listen({
    host: options.host,
    port: options.port,
    tls: options.tls,
    protocols: {
      http2: socket => injector.injectConnection(socket),
      http1: options.http ?? ((_request, response) => void response.writeHead(404).end()),
    },
  });
  const stop = async (graceMs: number) => {
    setServing(false);
    const closed = listening.close();
    await within(graceMs, Promise.all([closed, callsEnded(server)]));
    server.forceShutdown();
    listening.destroy();
    await closed;
  };
  return { address: listening.address, port: listening.port, setServing, stop };
}

function addReflection(server: Server, services: readonly string[]): void {
  const handlers = reflectionHandlers(services);
  for (const name of REFLECTION_SERVICES) server.addService(serviceDefinition(name), handlers);
}

/** Tells clients to go elsewhere. Resolves when no call is in flight any more. */
function callsEnded(server: Server): Promise<void> {
  return new Promise(resolve => server.tryShutdown(() => resolve()));
}
