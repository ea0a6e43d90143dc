import { cutText } from '#grpc/cut-text.ts';
import {
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  LISTENER,
  ROUTE_CONFIGURATION,
  SECRET,
  VIRTUAL_HOST,
} from '#protos/type-url.ts';
import type { DeltaDiscoveryRequest } from './discovery.ts';
import type { Nack, StreamInfo, StreamStatus, TypeStatus } from './discovery-observer.ts';
import type { Stage } from './make-before-break.ts';
import { partsFor, wholeOf, wholesOf } from './parts.ts';
import type { StreamLoad } from './request-check.ts';
import { NO_RESOURCES, type Snapshot } from './snapshot.ts';
import type { AckState, Subscription } from './subscription.ts';
import { rulesOf } from './type-rules.ts';

/** The order in which due types are sent. Types that are not listed come last. */
const ORDER = [
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  SECRET,
  LISTENER,
  ROUTE_CONFIGURATION,
  VIRTUAL_HOST,
];

/** A client's message is cut to this many characters before it is logged or shown. */
const MAX_MESSAGE = 2_000;

type Channel<Request, Response> = {
  readonly subscription: Subscription<Request, Response>;
  readonly typeUrl: string;
  /** What the proxy was moving to when the last response was made. */
  target: Snapshot | undefined;
  status: TypeStatus;
};

export type StreamVerdict =
  | { readonly kind: 'none' }
  | { readonly kind: 'ack'; readonly version: string }
  | { readonly kind: 'nack'; readonly nack: Nack };

export type StreamOptions<Request, Response> = {
  readonly info: StreamInfo;
  subscribe(typeUrl: string): Subscription<Request, Response>;
  /**
   * Writes one response.
   * @returns false when the transport accepts no more until `drained`
   */
  write(response: Response): boolean;
  /** Called once after an internal error. From then on nothing is written. */
  failed(error: unknown): void;
  now(): number;
};

/** The subscriptions of one stream, and what may be written to it. */
export class DiscoveryStream<Request, Response> {
  readonly info: StreamInfo;
  readonly #options: StreamOptions<Request, Response>;
  readonly #channels = new Map<string, Channel<Request, Response>>();
  #inOrder: readonly Channel<Request, Response>[] = [];
  #nonce = 0;
  #blocked = false;
  #hasFailed = false;

  constructor(options: StreamOptions<Request, Response>) {
    this.info = options.info;
    this.#options = options;
  }

  /**
   * Number of types and of names that the client makes the server remember, and their bytes.
   * `brought` is the number of further names, which it has from an earlier stream.
   */
  get load(): StreamLoad & { readonly brought: number } {
    const load = { types: this.#channels.size, names: 0, brought: 0, bytes: 0 };
    for (const { subscription } of this.#channels.values()) {
      load.names += subscription.size;
      load.brought += subscription.brought;
      load.bytes += subscription.bytes;
    }
    return load;
  }

  /**
   * The only name of the only type that it subscribes to. Undefined when it subscribes to more, or
   * to none.
   */
  get only(): { readonly typeUrl: string; readonly name: string } | undefined {
    const [channel, ...others] = this.#inOrder;
    const name = channel?.subscription.onlyName;
    if (channel === undefined || name === undefined || others.length > 0) return undefined;
    return { typeUrl: channel.typeUrl, name };
  }

  /** Whether responses wait for the transport. */
  get isBlocked(): boolean {
    return this.#blocked;
  }

  receive(typeUrl: string, request: Request): StreamVerdict {
    const channel = this.#channel(typeUrl);
    const verdict = channel.subscription.request(request);
    this.#repeatParts(typeUrl, request);
    if (verdict.kind === 'none') return verdict;
    const at = this.#options.now();
    if (verdict.kind === 'ack') {
      channel.status = { ...channel.status, acked: verdict.version, nack: undefined, at };
      return verdict;
    }
    const message = cutText(verdict.error.message, MAX_MESSAGE);
    channel.status = { ...channel.status, nack: { version: verdict.version, message }, at };
    const target = channel.target ?? new Map();
    return { kind: 'nack', nack: { typeUrl, target, names: verdict.names, message } };
  }

  /** A client that begins to use a whole, or no longer does, has none of its parts. */
  #repeatParts(typeUrl: string, request: Request): void {
    const parts = this.#inOrder.filter(channel => rulesOf(channel.typeUrl).partsOf === typeUrl);
    const named = new Set(parts.length === 0 ? [] : namesIn(request as object));
    if (named.size === 0) return;
    for (const { subscription } of parts) subscription.repeat(name => named.has(wholeOf(name)));
  }

  /** What the client rejected may be sent again unchanged, once. */
  retry(): void {
    for (const { subscription } of this.#inOrder) subscription.retry();
  }

  /** Writes what is due of the stage, as long as the transport accepts it. */
  flush(stage: Stage, target: Snapshot): void {
    this.#guard(undefined, () => {
      for (const channel of this.#inOrder) {
        if (this.#blocked) return;
        if (!stage.silent.has(channel.typeUrl)) this.#respond(channel, stage, target);
      }
    });
  }

  drained(): void {
    this.#blocked = false;
  }

  standing(stage: Stage, target: Snapshot): AckState {
    if (this.#blocked) return 'waiting';
    return this.#guard('waiting', () => {
      const standings = [...this.#channels.values()].map(channel =>
        standingIn(channel, stage, target),
      );
      if (standings.includes('rejected')) return 'rejected';
      return standings.includes('waiting') ? 'waiting' : 'settled';
    });
  }

  /** Returns the types of which the client has rejected something that the target holds. */
  rejected(stage: Stage, target: Snapshot): ReadonlySet<string> {
    return this.#guard(new Set(), () => {
      const channels = [...this.#channels.values()];
      const rejected = channels.filter(
        channel => standingIn(channel, stage, target) === 'rejected',
      );
      return new Set(rejected.map(({ typeUrl }) => typeUrl));
    });
  }

  subscribesTo(typeUrl: string): boolean {
    return this.#channels.has(typeUrl);
  }

  status(standing: AckState): StreamStatus {
    const types = Object.fromEntries(
      [...this.#channels].map(([typeUrl, { status }]) => [typeUrl, status]),
    );
    return { ...this.info, types, standing };
  }

  /**
   * Returns `otherwise` when the stream fails, so that a caller with many streams goes on with the
   * others.
   */
  #guard<T>(otherwise: T, work: () => T): T {
    if (this.#hasFailed) return otherwise;
    try {
      return work();
    } catch (error) {
      this.#hasFailed = true;
      this.#options.failed(error);
      return otherwise;
    }
  }

  #respond(channel: Channel<Request, Response>, stage: Stage, target: Snapshot): void {
    const all = stage.snapshot.get(channel.typeUrl) ?? NO_RESOURCES;
    const turn = { nonce: String(this.#nonce + 1), keep: stage.keep.has(channel.typeUrl) };
    const { partsOf } = rulesOf(channel.typeUrl);
    const wholes = partsOf === undefined ? undefined : this.#channels.get(partsOf)?.subscription;
    if (partsOf !== undefined && wholes === undefined) return;
    const response =
      wholes === undefined
        ? channel.subscription.respond(all, turn)
        : channel.subscription.respond(partsFor(all, wholes), {
            ...turn,
            // A client that still uses the whole needs them.
            keeps: name =>
              !wholesOf(all).includes(wholeOf(name)) || wholes.knows(wholeOf(name)) !== 'acked',
          });
    if (response === undefined) return;
    this.#nonce += 1;
    channel.target = target;
    channel.status = { ...channel.status, sent: channel.subscription.sent };
    this.#blocked = !this.#options.write(response);
  }

  #channel(typeUrl: string): Channel<Request, Response> {
    const known = this.#channels.get(typeUrl);
    if (known !== undefined) return known;
    const status = { sent: undefined, acked: undefined, nack: undefined, at: undefined };
    const subscription = this.#options.subscribe(typeUrl);
    const channel = { subscription, typeUrl, target: undefined, status };
    this.#channels.set(typeUrl, channel);
    this.#inOrder = [...this.#channels.values()].sort((a, b) => rank(a.typeUrl) - rank(b.typeUrl));
    return channel;
  }
}

/** Returns what a delta request subscribes to that it does not bring, and unsubscribes from. */
function namesIn(request: object): readonly string[] {
  const {
    initial_resource_versions: brought,
    resource_names_subscribe: subscribed = [],
    resource_names_unsubscribe: unsubscribed = [],
  } = request as Partial<DeltaDiscoveryRequest>;
  const versions = brought?.versions();
  return [...subscribed.filter(name => versions?.has(name) !== true), ...unsubscribed];
}

function rank(typeUrl: string): number {
  const index = ORDER.indexOf(typeUrl);
  return index < 0 ? ORDER.length : index;
}

/**
 * A type that the stage is silent about counts for nothing, unless a response about it is still in
 * flight.
 */
function standingIn<Request, Response>(
  channel: Channel<Request, Response>,
  stage: Stage,
  target: Snapshot,
): AckState {
  const standing = channel.subscription.standing(target.get(channel.typeUrl) ?? NO_RESOURCES);
  return stage.silent.has(channel.typeUrl) && standing === 'rejected' ? 'settled' : standing;
}
