import { tagOf, WireReader } from '#protos/wire-reader.ts';
import { WIRE } from '#protos/wire-writer.ts';
import { latencyBucket } from './latency.ts';
import { type NodeName, readNode } from './node-name.ts';

/** Takes the statistics of one message. */
export type MetricTaker = {
  /** The proxy that sends. It stands in the first message of a stream, before all statistics. */
  node(node: NodeName): void;
  /**
   * What was counted since the last push. Never 0. `moment` is when the proxy read it, in ms by its
   * own clock. All of one push have the same.
   */
  counter(name: string, value: number, moment: number): void;
  gauge(name: string, value: number, moment: number): void;
  /** Values since the last push, by bucket of latency. Never all 0. */
  histogram(name: string, counts: ReadonlyMap<number, number>): void;
};

const bytesField = (field: number) => tagOf(field, WIRE.lengthDelimited);

/** See envoy/service/metrics/v3/metrics_service.proto and io/prometheus/client/metrics.proto. */
const MESSAGE = { identifier: bytesField(1), envoy_metrics: bytesField(2) } as const;
const IDENTIFIER = { node: bytesField(1) } as const;
const FAMILY = { name: bytesField(1), metric: bytesField(4) } as const;
const METRIC = {
  gauge: bytesField(2),
  counter: bytesField(3),
  timestamp_ms: tagOf(6, WIRE.varint),
  histogram: bytesField(7),
} as const;
const VALUE = { value: tagOf(1, WIRE.fixed64) } as const;
const HISTOGRAM = { sample_count: tagOf(1, WIRE.varint), bucket: bytesField(3) } as const;
const BUCKET = {
  cumulative_count: tagOf(1, WIRE.varint),
  upper_bound: tagOf(2, WIRE.fixed64),
} as const;

/** The name of a statistic has at most this many bytes. A longer one is skipped. */
const MAX_NAME_BYTES = 2_048;

/**
 * Decodes a StreamMetricsMessage. It is done by hand, since most statistics are 0 at each push, and
 * are skipped before anything is made of them. Throws a WireError when the bytes are not a message.
 */
export function decodeMetrics(bytes: Buffer, taker: MetricTaker): void {
  const reader = new WireReader(bytes);
  while (reader.more) {
    const tag = reader.tag();
    if (tag === MESSAGE.envoy_metrics) readFamily(reader, bytes, taker);
    else if (tag === MESSAGE.identifier) readIdentifier(reader, taker);
    else reader.skip(tag);
  }
}

function readIdentifier(reader: WireReader, taker: MetricTaker): void {
  const outer = reader.enter();
  while (reader.more) {
    const tag = reader.tag();
    if (tag === IDENTIFIER.node) taker.node(readNode(reader));
    else reader.skip(tag);
  }
  reader.leave(outer);
}

/**
 * Envoy writes one statistic a family, with one value. More are skipped, since the name of a
 * million of them would be looked up a million times.
 */
function readFamily(reader: WireReader, bytes: Buffer, taker: MetricTaker): void {
  const outer = reader.enter();
  let start = 0;
  let end = 0;
  let isRead = false;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === FAMILY.name) {
      start = reader.pass();
      end = reader.at;
    } else if (tag === FAMILY.metric && !isRead && end - start <= MAX_NAME_BYTES) {
      isRead = true;
      readMetric(reader, () => bytes.toString('utf8', start, end), taker);
    } else reader.skip(tag);
  }
  reader.leave(outer);
}

function readMetric(reader: WireReader, name: () => string, taker: MetricTaker): void {
  const outer = reader.enter();
  let [kind, value, moment] = [0, 0, 0];
  while (reader.more) {
    const tag = reader.tag();
    if (tag === METRIC.timestamp_ms) moment = reader.uint64();
    else if (kind === 0 && (tag === METRIC.counter || tag === METRIC.gauge)) {
      kind = tag;
      value = readValue(reader);
    } else if (kind === 0 && tag === METRIC.histogram) {
      kind = tag;
      readHistogram(reader, name, taker);
    } else reader.skip(tag);
  }
  reader.leave(outer);
  if (kind === METRIC.gauge) taker.gauge(name(), value, moment);
  else if (kind === METRIC.counter && value > 0 && Number.isFinite(value))
    taker.counter(name(), value, moment);
}

function readValue(reader: WireReader): number {
  const outer = reader.enter();
  let value = 0;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === VALUE.value) value = reader.double();
    else reader.skip(tag);
  }
  reader.leave(outer);
  return value;
}

function readHistogram(reader: WireReader, name: () => string, taker: MetricTaker): void {
  const outer = reader.enter();
  const counts = new Map<number, number>();
  let samples = 0;
  let below = 0;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === HISTOGRAM.sample_count) samples = reader.uint64();
    else if (tag === HISTOGRAM.bucket && samples > 0) below = readBucket(reader, below, counts);
    else reader.skip(tag);
  }
  reader.leave(outer);
  if (samples > below) addTo(counts, latencyBucket(Number.POSITIVE_INFINITY), samples - below);
  if (samples > 0) taker.histogram(name(), counts);
}

/** Returns how many values are in this bucket and those before. */
function readBucket(reader: WireReader, below: number, counts: Map<number, number>): number {
  const outer = reader.enter();
  let cumulative = 0;
  let bound = 0;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === BUCKET.cumulative_count) cumulative = reader.uint64();
    else if (tag === BUCKET.upper_bound) bound = reader.double();
    else reader.skip(tag);
  }
  reader.leave(outer);
  if (cumulative > below) addTo(counts, latencyBucket(bound), cumulative - below);
  return Math.max(cumulative, below);
}

function addTo(counts: Map<number, number>, bucket: number, count: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + count);
}
