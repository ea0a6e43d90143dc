import { messageType } from '#protos/root.ts';
import { CLUSTER } from '#protos/type-url.ts';
import type { Brought } from '../brought.ts';
import { decodeDeltaRequest } from '../decode-request.ts';
import { DeltaSubscription } from '../delta-subscription.ts';
import type { DeltaDiscoveryRequest, DeltaDiscoveryResponse } from '../discovery.ts';
import { NO_RESOURCES, type Resources } from '../snapshot.ts';
import type { AckState, AckVerdict } from '../subscription.ts';
import { rulesOf } from '../type-rules.ts';
import { contentOf, resources } from './resources.ts';

type Wishes = {
  subscribe?: readonly string[];
  unsubscribe?: readonly string[];
  have?: Readonly<Record<string, string>>;
};

/** What a client brings that says it holds these versions. */
export function brought(versions: Readonly<Record<string, string>>): Brought {
  const request = { initial_resource_versions: versions };
  const bytes = messageType('envoy.service.discovery.v3.DeltaDiscoveryRequest').encode(request);
  return decodeDeltaRequest(Buffer.from(bytes.finish())).initial_resource_versions;
}

/** A delta request of which only what matters is given. */
export function deltaRequest(fields: Partial<DeltaDiscoveryRequest>): DeltaDiscoveryRequest {
  return {
    node: null,
    type_url: '',
    resource_names_subscribe: [],
    resource_names_unsubscribe: [],
    initial_resource_versions: brought({}),
    response_nonce: '',
    error_detail: null,
    ...fields,
  };
}

/** A delta subscription with the client's side of the conversation in short words. */
export class DeltaDriver {
  readonly subscription: DeltaSubscription;
  last: DeltaDiscoveryResponse | undefined;
  #nonces = 0;
  #offered: Resources = NO_RESOURCES;

  constructor(typeUrl = CLUSTER) {
    this.subscription = new DeltaSubscription(typeUrl, rulesOf(typeUrl));
  }

  ask({ subscribe = [], unsubscribe = [], have = {} }: Wishes = {}, nonce = ''): AckVerdict {
    return this.subscription.request(
      deltaRequest({
        resource_names_subscribe: subscribe,
        resource_names_unsubscribe: unsubscribe,
        initial_resource_versions: brought(have),
        response_nonce: nonce,
      }),
    );
  }

  /** ACKs the last response, and may ask for something in the same request. */
  ack(wishes: Wishes = {}): AckVerdict {
    return this.ask(wishes, this.last?.nonce);
  }

  nack(message = 'no'): AckVerdict {
    const nonce = this.last?.nonce ?? '';
    return this.subscription.request(
      deltaRequest({ response_nonce: nonce, error_detail: { code: 3, message } }),
    );
  }

  /**
   * Returns what is sent now: name to content, or null for removed.
   * @returns undefined when there is no response
   */
  sent(resources: Resources, keep = false): Record<string, string | null> | undefined {
    this.#nonces += 1;
    this.#offered = resources;
    const response = this.subscription.respond(resources, { nonce: String(this.#nonces), keep });
    if (response === undefined) return undefined;
    this.last = response;
    return Object.fromEntries([
      ...response.resources.map(({ name, resource }) => [name, contentOf(name, resource)]),
      ...response.removed_resources.map(name => [name, null]),
    ]);
  }

  /** Towards what it was last given to send. */
  standing(): AckState {
    return this.subscription.standing(this.#offered);
  }
}

/** Begins a subscription to `names` ('*' by default) and ACKs what it is sent of `held`. */
export function holding(
  held: Readonly<Record<string, string>>,
  names: readonly string[] = ['*'],
  typeUrl?: string,
) {
  const driver = new DeltaDriver(typeUrl);
  driver.ask({ subscribe: names });
  const sent = driver.sent(resources(held, typeUrl));
  driver.ack();
  return { driver, sent };
}
