import { CLUSTER, LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { DeltaSubscription } from '../delta-subscription.ts';
import type { DeltaDiscoveryRequest, DeltaDiscoveryResponse } from '../discovery.ts';
import type { DiscoveryObserver, StreamInfo } from '../discovery-observer.ts';
import { DiscoverySession } from '../discovery-session.ts';
import { DiscoveryStream } from '../discovery-stream.ts';
import type { IndependentSession } from '../independent-session.ts';
import type { SnapshotCache } from '../snapshot-cache.ts';
import type { AckState } from '../subscription.ts';
import { rulesOf } from '../type-rules.ts';
import { brought, deltaRequest } from './delta-driver.ts';
import { HandTimers } from './hand-timers.ts';
import { contentOf } from './resources.ts';

export const INFO: StreamInfo = {
  id: 1,
  node: 'proxy',
  group: 'edge',
  address: '127.0.0.1:1',
  variant: 'delta',
  typeUrl: undefined,
};

/**
 * A proxy in memory that speaks delta to a session: it holds what it is sent when the test lets it
 * answer.
 */
export class SessionProxy {
  readonly session: DiscoverySession | IndependentSession;
  readonly stream: DiscoveryStream<DeltaDiscoveryRequest, DeltaDiscoveryResponse>;
  readonly timers = new HandTimers();
  readonly inbox: DeltaDiscoveryResponse[] = [];
  /** Type URL to name to content. */
  readonly holds = new Map<string, Map<string, string>>();
  #writable = true;

  /** By itself, or with others in a `session`. */
  constructor(
    cache: SnapshotCache,
    observer: DiscoveryObserver = {},
    session?: SessionProxy['session'],
  ) {
    const { after } = this.timers;
    this.session = session ?? new DiscoverySession({ group: INFO.group, cache, observer, after });
    this.stream = new DiscoveryStream({
      info: INFO,
      subscribe: typeUrl => new DeltaSubscription(typeUrl, rulesOf(typeUrl)),
      write: response => {
        this.inbox.push(response);
        return this.#writable;
      },
      failed: error => {
        throw error;
      },
      now: () => 0,
    });
    this.session.join(this.stream);
  }

  get standing(): AckState {
    return this.session.standingOf(this.stream);
  }

  subscribe(
    typeUrl: string,
    names: readonly string[],
    have: Readonly<Record<string, string>> = {},
  ): void {
    const fields = { resource_names_subscribe: names, initial_resource_versions: brought(have) };
    this.#send(typeUrl, fields);
  }

  unsubscribe(typeUrl: string, names: readonly string[]): void {
    this.#send(typeUrl, { resource_names_unsubscribe: names });
  }

  /** From the next response on the transport is full. */
  stall(): void {
    this.#writable = false;
  }

  drain(): void {
    this.#writable = true;
    this.stream.drained();
    this.session.pump();
  }

  /** As Envoy does, with one route configuration, `edge`. */
  subscribeToAll(): void {
    this.subscribe(CLUSTER, ['*']);
    this.subscribe(LISTENER, ['*']);
    this.subscribe(ROUTE_CONFIGURATION, ['edge']);
  }

  /**
   * Applies the oldest response and ACKs or rejects it.
   * @returns undefined when there is none
   */
  answer(refuse = false): DeltaDiscoveryResponse | undefined {
    const response = this.inbox.shift();
    if (response === undefined) return undefined;
    if (!refuse) this.#apply(response);
    const error_detail = refuse ? { code: 3, message: 'no' } : null;
    this.#send(response.type_url, { response_nonce: response.nonce, error_detail });
    return response;
  }

  /** Answers until nothing more comes. */
  answerAll(): void {
    while (this.answer() !== undefined);
  }

  /** What it holds of a type, as `name=content`. */
  held(typeUrl: string): readonly string[] {
    return [...(this.holds.get(typeUrl) ?? [])]
      .map(([name, content]) => `${name}=${content}`)
      .sort();
  }

  #send(typeUrl: string, fields: Partial<DeltaDiscoveryRequest>): void {
    const request = deltaRequest({ type_url: typeUrl, ...fields });
    this.session.heard(this.stream, typeUrl, this.stream.receive(typeUrl, request));
  }

  #apply({ type_url, resources, removed_resources }: DeltaDiscoveryResponse): void {
    const held = this.holds.get(type_url) ?? new Map<string, string>();
    this.holds.set(type_url, held);
    for (const { name, resource } of resources) held.set(name, contentOf(name, resource));
    for (const name of removed_resources) held.delete(name);
  }
}
