import {
  type handleBidiStreamingCall,
  Metadata,
  type ServerDuplexStream,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { REPORT } from '#protos/type-url.ts';
import { AllNames, mostOfAll } from './all-names.ts';
import type { ErrorDetail, Node } from './discovery.ts';
import { CONFIGURING, SERVICES } from './discovery-methods.ts';
import type { DiscoveryObserver, StreamInfo, StreamStatus } from './discovery-observer.ts';
import { DiscoverySession, type SessionOptions } from './discovery-session.ts';
import { DiscoveryStream, type StreamOptions } from './discovery-stream.ts';
import { IndependentSession } from './independent-session.ts';
import { KEPT_MS } from './kept.ts';
import { type Peer, peerOf } from './peer.ts';
import { type ReportTaker, takeReport } from './report.ts';
import {
  type CheckedRequest,
  checkRequest,
  type Refusal,
  type StreamLoad,
} from './request-check.ts';
import { ResponseTooLarge } from './response-too-large.ts';
import type { SnapshotCache } from './snapshot-cache.ts';
import { Turns } from './turns.ts';
import { DELTA, SOTW, type Variant } from './variant.ts';

export type DiscoveryServiceOptions = {
  readonly cache: SnapshotCache;
  readonly observer?: DiscoveryObserver;
  /** No served resource depends on another one. See IndependentSession. */
  readonly independent?: boolean;
  /** Returns the group whose snapshot a node is served. Default: Envoy's `node.cluster`. */
  groupOf?(node: Node, peer: Peer): string;
  /**
   * Returns why this client may not have the group's resources.
   * @returns undefined when it may
   */
  refuse?(group: string, peer: Peer, node: Node): string | undefined;
  /** Without it, reports are ignored. */
  readonly reports?: ReportTaker;
  /** How long removed clusters stay for requests in flight, in ms. Default: KEPT_MS. */
  readonly keptMs?: number;
  /** Names that all streams together may make it remember. Default: mostOfAll. */
  readonly mostNames?: number;
  now(): number;
  after(ms: number, callback: () => void): () => void;
};

/** Ends a stream after an internal error. Its client learns no more. */
const FAILED: Refusal = { code: status.INTERNAL, details: 'internal error, see the log' };

/** Ends the stream that names the most. */
const TOO_MANY: Refusal = {
  code: status.RESOURCE_EXHAUSTED,
  details: 'all streams together have too many names, and this one has the most',
};

/** Ends a stream, as the gRPC library ends a call whose message it cannot read. */
const UNREADABLE: Refusal = { code: status.INTERNAL, details: 'Error deserializing request' };

type Session = DiscoverySession | IndependentSession;

/** Streams that are served before other work of the process has its turn. */
const SERVED_AT_ONCE = 64;

/** How much of a turn a new stream takes. Its first requests may name all that it holds. */
const OPENING_WEIGHT = 8;

/**
 * A response of so many bytes holds up the later ones of its stream until it was taken. A request
 * of so many waits for its turn, and takes as many parts of it.
 */
const LARGE_BYTES = 16 * 1024;

type Opening<Request, Response> = Pick<StreamInfo, 'variant' | 'typeUrl'> &
  Pick<StreamOptions<Request, Response>, 'subscribe' | 'write'> & {
    end(refusal: Refusal): void;
  };

type OpenStream<Request = never> = {
  readonly info: StreamInfo;
  receive(typeUrl: string, request: Request): void;
  /**
   * Takes a report.
   * @returns why it ends the stream, or undefined when it does not
   */
  report(to: ReportTaker, detail: ErrorDetail | null | undefined): Refusal | undefined;
  /** Called when the transport accepts more. */
  drained(): void;
  load(): StreamLoad;
  status(): StreamStatus;
  end(refusal: Refusal): void;
  close(): void;
};

/**
 * Serves the discovery services of the Envoy API over one cache of snapshots. They are aggregated
 * and per type, state of the world and delta.
 */
export class DiscoveryService {
  readonly #options: DiscoveryServiceOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #streams = new Set<OpenStream>();
  readonly #names: AllNames<OpenStream>;
  readonly #turns: Turns;
  #lastId = 0;

  constructor(options: DiscoveryServiceOptions) {
    this.#options = options;
    const { after, mostNames = mostOfAll() } = options;
    this.#names = new AllNames(mostNames);
    const later = (callback: () => void) => void setImmediate(callback);
    this.#turns = new Turns({ atOnce: SERVED_AT_ONCE, later, after });
  }

  /** The number of open streams. */
  get size(): number {
    return this.#streams.size;
  }

  /**
   * Returns the handlers of the aggregated service and those of `typeUrls`. By default these are
   * all types that configure a proxy. Serve them with DISCOVERY.
   */
  implementations(
    typeUrls: readonly string[] = CONFIGURING,
  ): Readonly<Record<string, UntypedServiceImplementation>> {
    const served = SERVICES.filter(
      ([, , typeUrl]) => typeUrl === undefined || typeUrls.includes(typeUrl),
    );
    return Object.fromEntries(
      served.map(([name, methods, typeUrl]) => [name, this.#handlers(methods, typeUrl)]),
    );
  }

  /**
   * Returns every open stream. Streams that only report are left out, since they are served
   * nothing.
   */
  streams(): readonly StreamStatus[] {
    return [...this.#streams].filter(asks).map(stream => stream.status());
  }

  /**
   * Ends every stream, so that a server can stop without waiting for them. Clients reconnect, here
   * or elsewhere.
   */
  close(): void {
    const refusal = { code: status.UNAVAILABLE, details: 'shutting down' };
    for (const stream of [...this.#streams]) stream.end(refusal);
  }

  #handlers(methods: string, typeUrl: string | undefined): UntypedServiceImplementation {
    const fetch = (_call: unknown, reply: (error: object) => void) =>
      reply({ code: status.UNIMPLEMENTED, details: 'use a stream, or REST' });
    return {
      [`Delta${methods}`]: this.#handler(DELTA, typeUrl),
      [`Stream${methods}`]: this.#handler(SOTW, typeUrl),
      ...(typeUrl === undefined ? {} : { [`Fetch${methods}`]: fetch }),
    };
  }

  #handler<Request extends CheckedRequest, Response extends object>(
    { variant, decode, subscribe, encode }: Variant<Request, Response>,
    typeUrl: string | undefined,
  ): handleBidiStreamingCall<Buffer, object> {
    const { reports } = this.#options;
    return call => {
      let stream: OpenStream<Request> | undefined;
      let ended = false;
      // Nothing that a peer sends or does may reach the process as an exception.
      const guard = <Arguments extends readonly unknown[]>(work: (...given: Arguments) => void) =>
        guarded(work, error => {
          this.#tellFailed(stream?.info, error);
          end(FAILED);
        });
      const close = guard(() => {
        if (ended) return;
        ended = true;
        stream?.close();
        // A client that does not end its side keeps the call, and must not keep what it named.
        stream = undefined;
      });
      const end = (refusal: Refusal) => {
        // The gRPC library throws at half a character, and a text that was cut may end with one.
        if (!ended) call.emit('error', { ...refusal, details: refusal.details.toWellFormed() });
        close();
      };
      const take = (bytes: Buffer) => {
        if (ended) return;
        const request = decoded(decode, bytes);
        if (request === undefined) return end(UNREADABLE);
        const refusal =
          checkRequest(request, typeUrl, stream?.load()) ??
          (stream === undefined ? this.#refusal(request.node as Node, peerOf(call)) : undefined);
        if (refusal !== undefined) return end(refusal);
        stream ??= this.#open(call, request.node as Node, {
          ...{ variant, typeUrl, subscribe, end },
          write: response => this.#write(call, encode(response), () => stream?.drained()),
        });
        if (reports !== undefined && variant === 'delta' && request.type_url === REPORT) {
          const wrong = stream.report(reports, request.error_detail);
          if (wrong !== undefined) end(wrong);
        } else stream.receive(request.type_url || typeUrl || '', request);
      };
      const takeLarge = guard((bytes: Buffer) => {
        take(bytes);
        call.resume();
      });
      const hear = guard((bytes: Buffer) => {
        if (bytes.length < LARGE_BYTES) return take(bytes);
        // Later ones of the stream come after it.
        call.pause();
        this.#turns.take(() => takeLarge(bytes), Math.ceil(bytes.length / LARGE_BYTES));
      });
      call.on(
        'drain',
        guard(() => stream?.drained()),
      );
      call.on('end', () => {
        close();
        call.end();
      });
      // Nothing is read of it before. So many new streams do not hold up those that are served.
      this.#turns.begin(() => void call.on('data', hear), OPENING_WEIGHT);
      call.on('cancelled', close);
      call.on('error', close);
    };
  }

  /**
   * Writes a response.
   * @returns false when the stream is to write no more until `drained`
   */
  #write(
    call: Pick<ServerDuplexStream<unknown, object>, 'write'>,
    response: object,
    drained: () => void,
  ): boolean {
    if (!Buffer.isBuffer(response) || response.length < LARGE_BYTES) return call.write(response);
    const taken = this.#turns.send(response.length);
    call.write(response, () => {
      taken();
      this.#turns.take(guarded(drained, error => this.#tellFailed(undefined, error)));
    });
    return false;
  }

  #refusal(node: Node, peer: Peer): Refusal | undefined {
    const details = this.#options.refuse?.(this.#groupOf(node, peer), peer, node);
    return details === undefined ? undefined : { code: status.PERMISSION_DENIED, details };
  }

  #groupOf(node: Node, peer: Peer): string {
    return this.#options.groupOf?.(node, peer) ?? node.cluster;
  }

  #open<Request, Response>(
    call: ServerDuplexStream<Buffer, object>,
    node: Node,
    { variant, typeUrl, subscribe, end, write }: Opening<Request, Response>,
  ): OpenStream<Request> {
    const { observer = {}, now } = this.#options;
    this.#lastId += 1;
    const group = this.#groupOf(node, peerOf(call));
    const address = call.getPeer();
    const info = { id: this.#lastId, node: node.id, group, address, variant, typeUrl };
    const failed = (error: unknown) => {
      this.#tellFailed(info, error);
      // Ends later, because callers that lead several streams are still iterating over them.
      queueMicrotask(() => end(error instanceof ResponseTooLarge ? tooLarge(error) : FAILED));
    };
    const stream = new DiscoveryStream({ info, subscribe, write, failed, now });
    const session = this.#session(info);
    session.join(stream);
    let endReport = () => {};
    const open: OpenStream<Request> = {
      info,
      receive: (typeUrl, request) => {
        if (!asks(open)) observer.connected?.(info);
        session.heard(stream, typeUrl, stream.receive(typeUrl, request));
        const { brought, names } = stream.load;
        this.#names.count(open, names + brought)?.end(TOO_MANY);
      },
      report: (to, detail) => {
        const wrong = takeReport(to, info, detail);
        if (wrong === undefined) endReport = () => void to.take(info, undefined);
        return wrong;
      },
      drained: () => {
        stream.drained();
        session.pump();
      },
      load: () => stream.load,
      status: () => stream.status(session.standingOf(stream)),
      end,
      close: () => {
        if (!this.#streams.delete(open)) return;
        this.#names.delete(open);
        if (session.leave(stream)) this.#sessions.delete(sessionKey(info));
        if (asks(open)) observer.disconnected?.(info);
        endReport();
      },
    };
    this.#streams.add(open);
    // Accepts the stream at once, because there may be nothing to send.
    call.sendMetadata(new Metadata());
    return open;
  }

  #session(info: StreamInfo): Session {
    const key = sessionKey(info);
    const session = this.#sessions.get(key) ?? this.#newSession(info);
    this.#sessions.set(key, session);
    return session;
  }

  #newSession(info: StreamInfo): Session {
    const { cache, observer = {}, independent = false, keptMs = KEPT_MS, after } = this.#options;
    const { group } = info;
    const onError = (error: unknown) => this.#sessionFailed(info, error);
    const watched: SessionOptions['cache'] = {
      get: name => cache.get(name),
      watch: (name, watcher) => cache.watch(name, guarded(watcher, onError)),
    };
    return independent
      ? new IndependentSession({ group, cache: watched, observer })
      : new DiscoverySession({
          group,
          cache: watched,
          observer,
          keptMs,
          turn: work => this.#turns.take(guarded(work, onError)),
          after: (ms, callback) => after(ms, guarded(callback, onError)),
        });
  }

  /** The code that leads a client's streams has failed. How far it has come is unknown. */
  #sessionFailed(info: StreamInfo, error: unknown): void {
    this.#tellFailed(info, error);
    const key = sessionKey(info);
    for (const stream of [...this.#streams])
      if (sessionKey(stream.info) === key) stream.end(FAILED);
  }

  #tellFailed(stream: StreamInfo | undefined, error: unknown): void {
    this.#options.observer?.failed?.(stream, error);
  }
}

/** Runs the work. Passes what it throws to `onError`, so that the caller sees no exception. */
function guarded<Arguments extends readonly unknown[]>(
  work: (...given: Arguments) => void,
  onError: (error: unknown) => void,
): (...given: Arguments) => void {
  return (...given) => {
    try {
      work(...given);
    } catch (error) {
      onError(error);
    }
  };
}

function tooLarge({ message: details }: ResponseTooLarge): Refusal {
  return { code: status.RESOURCE_EXHAUSTED, details };
}

function decoded<Request>(decode: (bytes: Buffer) => Request, bytes: Buffer): Request | undefined {
  try {
    return decode(bytes);
  } catch {
    return undefined;
  }
}

function asks(stream: OpenStream): boolean {
  return stream.load().types > 0;
}

/**
 * An Envoy has one aggregated stream, or one stream for each type on one connection. The latter are
 * led together.
 */
function sessionKey({ id, group, node, address, typeUrl }: StreamInfo): string {
  return JSON.stringify(typeUrl === undefined ? [id] : [group, node, address]);
}
