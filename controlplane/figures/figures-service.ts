import {
  type ServiceDefinition,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import {
  MAX_SAMPLES_A_SECOND,
  MAX_SAMPLES_OF_GROUP_A_SECOND,
  MAX_STREAMS,
  MAX_STREAMS_OF_CONNECTION,
} from './bounds.ts';
import { decodeAccessLog } from './decode-access-log.ts';
import { decodeMetrics } from './decode-metrics.ts';
import type { FigureStore, Push } from './figure-store.ts';
import {
  type FigureCall,
  leadStream,
  type MessageReader,
  nodeOfStream,
  type StreamParts,
} from './figure-stream.ts';

export type FiguresServiceParts = StreamParts & {
  readonly store: FigureStore;
  now(): number;
};

const METRICS = 'envoy.service.metrics.v3.MetricsService';
const ACCESS_LOG = 'envoy.service.accesslog.v3.AccessLogService';

/** How messages are read and written: as bytes, since they are decoded by hand. */
export const FIGURES_DEFINITIONS: Readonly<Record<string, ServiceDefinition>> = {
  [METRICS]: definition(METRICS, 'StreamMetrics'),
  [ACCESS_LOG]: definition(ACCESS_LOG, 'StreamAccessLogs'),
};

/** The messages of a push arrive within this time, in ms. */
const ONE_PUSH_MS = 200;
/** The first push is about this time, in ms. */
const FIRST_PUSH_MS = 5_000;

/** Returns the handlers of Envoy's MetricsService and AccessLogService. */
export function figuresServices(
  parts: FiguresServiceParts,
): Readonly<Record<string, UntypedServiceImplementation>> {
  const streams = streamCounter();
  const wants = sampleCounter(parts.now);
  const handler =
    (readerOf: (call: FigureCall) => MessageReader) =>
    (call: FigureCall, reply: sendUnaryData<object>) => {
      const leave = streams.enter(call.getPeer());
      if (leave === undefined) {
        reply({ code: status.RESOURCE_EXHAUSTED, details: 'too many streams of figures' }, null);
        return;
      }
      const reader = readerOf(call);
      const ended = () => {
        leave();
        reader.ended();
      };
      leadStream(call, reply, { read: bytes => reader.read(bytes), ended }, parts);
    };
  return {
    [METRICS]: { StreamMetrics: handler(call => metricsReader(call, parts)) },
    [ACCESS_LOG]: { StreamAccessLogs: handler(call => accessLogReader(call, parts, wants)) },
  };
}

function metricsReader(call: FigureCall, parts: FiguresServiceParts): MessageReader {
  const { store, now } = parts;
  const node = nodeOfStream(call, parts);
  let last: { from: number; to: number } | undefined;
  const time = () => {
    const at = now();
    const from = last?.to ?? at - FIRST_PUSH_MS;
    if (last === undefined || at - last.to > ONE_PUSH_MS)
      last = { from: Math.min(from, at), to: at };
    return last;
  };
  return {
    read: bytes => {
      let push: Push | undefined;
      const present = () => {
        push ??= { node: node.get(), ...time() };
        return push;
      };
      decodeMetrics(bytes, {
        node: name => node.take(name),
        counter: (name, value, moment) =>
          store.counter({ proxy: call, push: present(), moment }, name, value),
        gauge: (name, value, moment) =>
          store.gauge({ proxy: call, push: present(), moment }, name, value),
        histogram: (name, counts) => store.histogram(present(), name, counts),
      });
      store.pushed(call, present());
    },
    ended: () => store.left(call),
  };
}

function accessLogReader(
  call: FigureCall,
  parts: FiguresServiceParts,
  wants: (group: string) => boolean,
): MessageReader {
  const node = nodeOfStream(call, parts);
  return {
    read: bytes =>
      decodeAccessLog(bytes, {
        node: name => node.take(name),
        wants: () => wants(node.get().group),
        request: request => parts.store.request(node.get(), request),
      }),
    ended: () => {},
  };
}

/** Counts open streams, of all clients and of each connection. */
function streamCounter() {
  const byConnection = new Map<string, number>();
  let all = 0;
  return {
    /** Returns how to leave, or undefined when there are too many. */
    enter(connection: string): (() => void) | undefined {
      const count = byConnection.get(connection) ?? 0;
      if (all >= MAX_STREAMS || count >= MAX_STREAMS_OF_CONNECTION) return undefined;
      byConnection.set(connection, count + 1);
      all += 1;
      return () => {
        all -= 1;
        const left = (byConnection.get(connection) ?? 1) - 1;
        if (left > 0) byConnection.set(connection, left);
        else byConnection.delete(connection);
      };
    },
  };
}

/** Returns what says of a group whether one more of its requests is read in this second. */
function sampleCounter(now: () => number): (group: string) => boolean {
  let second = 0;
  let all = 0;
  const byGroup = new Map<string, number>();
  return group => {
    const present = Math.floor(now() / 1_000);
    if (present !== second) {
      all = 0;
      byGroup.clear();
    }
    second = present;
    const count = byGroup.get(group) ?? 0;
    if (all >= MAX_SAMPLES_A_SECOND || count >= MAX_SAMPLES_OF_GROUP_A_SECOND) return false;
    all += 1;
    byGroup.set(group, count + 1);
    return true;
  };
}

function definition(service: string, method: string): ServiceDefinition {
  const asIs = (bytes: Buffer) => bytes;
  return {
    [method]: {
      path: `/${service}/${method}`,
      originalName: method,
      requestStream: true,
      responseStream: false,
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: () => Buffer.alloc(0),
      responseDeserialize: asIs,
    },
  };
}
