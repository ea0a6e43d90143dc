import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  connectivityState,
  type ServiceError,
} from '@grpc/grpc-js';
import { serviceDefinition } from '#grpc/service.ts';
import type { Any } from '#protos/encode.ts';
import { ClientSubscription, type Update } from './client-subscription.ts';
import type { DeltaDiscoveryResponse, Node } from './discovery.ts';
import { NO_REPORTS, reportRequest } from './report.ts';

export type ConnectOptions = {
  /** `host:port` of a discovery server. */
  readonly address: string;
  readonly credentials: ChannelCredentials;
  readonly node: Node;
  /** Every resource of these types is subscribed to. A stream without types only reports. */
  readonly typeUrls: readonly string[];
  /**
   * Receives every change. It must answer by `ack` or `nack`, now or later. What was ACKed before
   * stays in force.
   */
  onUpdate(update: Update): void;
  /**
   * Called once in each outage, with the reason: the server is lost, or was unreachable for about
   * 10 s. The client then retries by itself.
   */
  onDisconnect?(reason: string): void;
  /** Called when the server accepts the stream again after an outage that was reported. */
  onReconnect?(): void;
  /** Returns a number in [0, 1), for the jitter of the back-off. */
  random(): number;
  after(ms: number, callback: () => void): () => void;
  /**
   * A server that is silent for this long, in ms, is pinged. A connection that is not made in this
   * time is given up. Default: 10 s.
   */
  readonly keepaliveMs?: number;
};

export type Connection = {
  /**
   * Tells the server what is wrong with what it sent. Replaces the earlier report, and undefined
   * clears it. The report is repeated to each server that accepts the stream. A server that accepts
   * reports, but not of this group, ends the stream. It then receives no report until there is a
   * new one.
   */
  report(report: Any | undefined): void;
  close(): void;
};

type Call = ClientDuplexStream<object, DeltaDiscoveryResponse>;

const ADS = 'envoy.service.discovery.v3.AggregatedDiscoveryService';
const BACK_OFF_MS = { first: 100, most: 500 };
/**
 * After this many failed attempts the server is reported as never reached. Before that it may still
 * be starting.
 */
const QUIET_ATTEMPTS = 20;
const MAX_RECEIVE_BYTES = 64 * 1024 * 1024;

/**
 * Subscribes to every resource of some types at a discovery server, until `close`. It uses delta
 * over one aggregated stream. A stream that ends is opened again after 50 to 500 ms. The new stream
 * resumes with what was ACKed, so that only changes are sent.
 */
export function connect(options: ConnectOptions): Connection {
  const keepaliveMs = options.keepaliveMs ?? 10_000;
  const newClient = () =>
    new Client(options.address, options.credentials, channelOptions(keepaliveMs));
  let client = newClient();
  const subscriptions = options.typeUrls.map(typeUrl => new ClientSubscription(typeUrl));
  let failures = 0;
  /** Whether the next failure begins an outage that must be reported. */
  let working = false;
  let told = false;
  let cancelTimer = () => {};
  const reached = () => {
    failures = 0;
    working = true;
    if (told) options.onReconnect?.();
    told = false;
  };
  let call: Call | undefined;
  let report: Any | undefined;
  // This may be the first request of its stream.
  const tell = () => void call?.write({ node: options.node, ...reportRequest(report) });
  const open = () => {
    const opened = openCall(client);
    call = opened;
    const ended = once((reason: string) => {
      call = undefined;
      stopWaiting();
      cancelTimer = options.after(backOff(failures, options.random()), open);
      failures += 1;
      if (working || failures === QUIET_ATTEMPTS) {
        told = true;
        options.onDisconnect?.(reason);
      }
      working = false;
    });
    // A server that hangs accepts all the same, and grpc-js waits for its handshake for ever.
    const stopWaiting = options.after(keepaliveMs, () => {
      if (client.getChannel().getConnectivityState(false) !== connectivityState.CONNECTING) return;
      failures = Math.max(failures, QUIET_ATTEMPTS - 1);
      ended(`no connection within ${keepaliveMs / 1000} s`);
      client.close();
      client = newClient();
    });
    cancelTimer = stopWaiting;
    // What comes of a stream that has ended must not cancel the next one.
    const heard = () => {
      stopWaiting();
      reached();
    };
    opened.on('metadata', heard); // there may be nothing new to send
    opened.on('data', response => {
      heard();
      const subscription = subscriptions.find(({ typeUrl }) => typeUrl === response.type_url);
      if (subscription === undefined) return;
      options.onUpdate(subscription.update(response, request => void opened.write(request)));
    });
    opened.on('error', (error: ServiceError) => {
      // A rejected report must not cost the configuration, so the next stream does not report.
      if (error.details === NO_REPORTS) report = undefined;
      ended(error.message);
    });
    opened.on('end', () => ended('the server has ended the stream'));
    for (const subscription of subscriptions) opened.write(subscription.first(options.node));
    if (report !== undefined) tell();
  };
  open();
  const close = () => {
    cancelTimer();
    call?.removeAllListeners().on('error', () => {}); // cancelled by ourselves
    call?.cancel();
    client.close();
  };
  return {
    report: next => {
      report = next;
      tell();
    },
    close,
  };
}

function openCall(client: Client): Call {
  const method = serviceDefinition(ADS).DeltaAggregatedResources;
  if (method === undefined) throw new Error(`${ADS} has no DeltaAggregatedResources`);
  return client.makeBidiStreamRequest(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
  );
}

function channelOptions(keepaliveMs: number) {
  return {
    'grpc.max_receive_message_length': MAX_RECEIVE_BYTES,
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': keepaliveMs / 2,
    // TLS wants a name, and an address may not be one. The server's certificate proves its
    // identity.
    'grpc.ssl_target_name_override': 'controlplane',
    // What is connected here is closed here.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': BACK_OFF_MS.first,
    'grpc.max_reconnect_backoff_ms': BACK_OFF_MS.most,
  };
}

/**
 * Doubles after each failure. Half of it is random, so that many clients do not come back together.
 */
function backOff(failures: number, random: number): number {
  const ms = Math.min(BACK_OFF_MS.first * 2 ** failures, BACK_OFF_MS.most);
  return ms / 2 + (ms / 2) * random;
}

function once<T>(run: (value: T) => void): (value: T) => void {
  let ran = false;
  return value => {
    if (!ran) run(value);
    ran = true;
  };
}
