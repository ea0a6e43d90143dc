import {
  type handleBidiStreamingCall,
  type ServerDuplexStream,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { CLUSTER, CLUSTER_LOAD_ASSIGNMENT, LISTENER, ROUTE_CONFIGURATION, SECRET } from '#protos/type-url.ts';
import { DeltaSubscription } from './delta-subscription.ts';
import type { DeltaDiscoveryRequest, DiscoveryRequest, Node } from './discovery.ts';
import type { DiscoveryObserver, StreamInfo, StreamStatus } from './discovery-observer.ts';
import { DiscoverySession } from './discovery-session.ts';
import { type CheckedRequest, checkRequest, type Refusal } from './request-check.ts';
import type { SnapshotCache } from './snapshot-cache.ts';
import { SotwSubscription } from './sotw-subscription.ts';
import type { Subscription } from './subscription.ts';
import { rulesOf } from './type-rules.ts';

export type DiscoveryServiceOptions = {
  readonly cache: SnapshotCache;
  readonly observer?: DiscoveryObserver;
  /** The group whose snapshot a node is served; default: Envoy's `node.cluster`. */
  groupOf?(node: Node): string;
  now(): number;
  after(ms: number, callback: () => void): () => void;
};

/** Service name, the part of its methods' names after Stream, Delta and Fetch, and the one type that it serves. */
const SERVICES: readonly (readonly [service: string, methods: string, typeUrl: string | undefined])[] = [
  ['envoy.service.discovery.v3.AggregatedDiscoveryService', 'AggregatedResources', undefined],
  ['envoy.service.listener.v3.ListenerDiscoveryService', 'Listeners', LISTENER],
  ['envoy.service.route.v3.RouteDiscoveryService', 'Routes', ROUTE_CONFIGURATION],
  ['envoy.service.cluster.v3.ClusterDiscoveryService', 'Clusters', CLUSTER],
  ['envoy.service.endpoint.v3.EndpointDiscoveryService', 'Endpoints', CLUSTER_LOAD_ASSIGNMENT],
  ['envoy.service.secret.v3.SecretDiscoveryService', 'Secrets', SECRET],
];

/** The discovery services of the Envoy API, aggregated and per type, state of the world and delta, over one cache of snapshots. */
export class DiscoveryService {
  readonly #options: DiscoveryServiceOptions;
  readonly #sessions = new Map<{ status(): StreamStatus }, (refusal: Refusal) => void>();
  #lastId = 0;

  constructor(options: DiscoveryServiceOptions) {
    this.#options = options;
  }

  /** The handlers of every service, or of those that serve one of `typeUrls` and the aggregated one. */
  implementations(typeUrls?: readonly string[]): Readonly<Record<string, UntypedServiceImplementation>> {
    const served = SERVICES.filter(
      ([, , typeUrl]) => typeUrl === undefined || typeUrls === undefined || typeUrls.includes(typeUrl),
    );
    return Object.fromEntries(
      served.map(([name, methods, typeUrl]) => [name, this.#handlers(methods, typeUrl)]),
    );
  }

  /** Every stream that is open now. */
  streams(): readonly StreamStatus[] {
    return [...this.#sessions.keys()].map(session => session.status());
  }

  /** Ends every stream, so that a server can stop without waiting for them; clients come back, here or elsewhere. */
  close(): void {
    for (const end of [...this.#sessions.values()])
      end({ code: status.UNAVAILABLE, details: 'shutting down' });
  }

  #handlers(methods: string, typeUrl: string | undefined): UntypedServiceImplementation {
    const delta = this.#handler<DeltaDiscoveryRequest>(
      'delta',
      typeUrl,
      type => new DeltaSubscription(type, rulesOf(type)),
    );
    const stream = this.#handler<DiscoveryRequest>(
      'state of the world',
      typeUrl,
      type => new SotwSubscription(type, rulesOf(type)),
    );
    const fetch = (_call: unknown, reply: (error: object) => void) =>
      reply({ code: status.UNIMPLEMENTED, details: 'use a stream, or REST' });
    return {
      [`Delta${methods}`]: delta,
      [`Stream${methods}`]: stream,
      ...(typeUrl === undefined ? {} : { [`Fetch${methods}`]: fetch }),
    };
  }

  #handler<Request extends CheckedRequest>(
    variant: StreamInfo['variant'],
    typeUrl: string | undefined,
    subscribe: (typeUrl: string) => Subscription<Request, object>,
  ): handleBidiStreamingCall<Request, object> {
    return call => {
      let session: DiscoverySession<Request, object> | undefined;
      let ended = false;
      const close = () => {
        ended = true;
        if (session !== undefined) this.#close(session);
        session = undefined;
      };
      const end = (refusal: Refusal) => {
        if (!ended) call.emit('error', refusal);
        close();
      };
      call.on('data', (request: Request) => {
        if (ended) return;
        const refusal = checkRequest(request, typeUrl, session?.load);
        if (refusal !== undefined) return end(refusal);
        session ??= this.#open(call, request.node as Node, { variant, typeUrl }, subscribe, end);
        session.receive(request.type_url || typeUrl || '', request);
      });
      call.on('drain', () => session?.drained());
      call.on('end', () => {
        close();
        call.end();
      });
      call.on('cancelled', close);
      call.on('error', close);
    };
  }

  #open<Request>(
    call: ServerDuplexStream<Request, object>,
    node: Node,
    served: Pick<StreamInfo, 'variant' | 'typeUrl'>,
    subscribe: (typeUrl: string) => Subscription<Request, object>,
    end: (refusal: Refusal) => void,
  ): DiscoverySession<Request, object> {
    const { cache, observer = {}, now, after, groupOf } = this.#options;
    this.#lastId += 1;
    const group = groupOf === undefined ? node.cluster : groupOf(node);
    const info = { id: this.#lastId, node: node.id, group, address: call.getPeer(), ...served };
    const write = (response: object) => call.write(response);
    const session = new DiscoverySession<Request, object>({
      info,
      cache,
      observer,
      subscribe,
      write,
      now,
      after,
    });
    this.#sessions.set(session, end);
    observer.connected?.(info);
    return session;
  }

  #close<Request>(session: DiscoverySession<Request, object>): void {
    if (!this.#sessions.delete(session)) return;
    session.close();
    this.#options.observer?.disconnected?.(session.info);
  }
}
