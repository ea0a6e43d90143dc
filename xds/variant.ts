import { decodeDeltaRequest, decodeRequest } from './decode-request.ts';
import { DeltaSubscription } from './delta-subscription.ts';
import type {
  DeltaDiscoveryRequest,
  DeltaDiscoveryResponse,
  DiscoveryRequest,
  DiscoveryResponse,
} from './discovery.ts';
import type { StreamInfo } from './discovery-observer.ts';
import { encodeDeltaResponse } from './encode-response.ts';
import { SotwSubscription } from './sotw-subscription.ts';
import type { Subscription } from './subscription.ts';
import { rulesOf } from './type-rules.ts';

/** How the streams of one variant are served. */
export type Variant<Request, Response> = {
  readonly variant: StreamInfo['variant'];
  /** Throws at bytes that are no request. */
  decode(bytes: Buffer): Request;
  subscribe(typeUrl: string): Subscription<Request, Response>;
  encode(response: Response): object;
};

export const DELTA: Variant<DeltaDiscoveryRequest, DeltaDiscoveryResponse> = {
  variant: 'delta',
  decode: decodeDeltaRequest,
  subscribe: type => new DeltaSubscription(type, rulesOf(type)),
  encode: encodeDeltaResponse,
};

export const SOTW: Variant<DiscoveryRequest, DiscoveryResponse> = {
  variant: 'state of the world',
  decode: decodeRequest,
  subscribe: type => new SotwSubscription(type, rulesOf(type)),
  encode: response => response,
};
