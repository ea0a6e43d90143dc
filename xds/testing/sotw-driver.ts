import { CLUSTER } from '#protos/type-url.ts';
import type { DiscoveryRequest, DiscoveryResponse } from '../discovery.ts';
import { NO_RESOURCES, type Resources } from '../snapshot.ts';
import { SotwSubscription } from '../sotw-subscription.ts';
import type { AckState, AckVerdict } from '../subscription.ts';
import { rulesOf } from '../type-rules.ts';

/** A request of the state of the world of which only what matters is given. */
export function sotwRequest(fields: Partial<DiscoveryRequest>): DiscoveryRequest {
  return {
    node: null,
    type_url: '',
    version_info: '',
    resource_names: [],
    response_nonce: '',
    error_detail: null,
    ...fields,
  };
}

/**
 * A subscription of the state of the world with the client's side of the conversation in short
 * words.
 */
export class SotwDriver {
  readonly subscription: SotwSubscription;
  last: DiscoveryResponse | undefined;
  #nonces = 0;
  #offered: Resources = NO_RESOURCES;
  #names: readonly string[] = [];

  constructor(typeUrl = CLUSTER) {
    this.subscription = new SotwSubscription(typeUrl, rulesOf(typeUrl));
  }

  /** Asks for these names, with the nonce of the last response. */
  ask(names: readonly string[], nonce = this.last?.nonce ?? '', version_info = ''): AckVerdict {
    this.#names = names;
    return this.subscription.request(
      sotwRequest({ resource_names: names, response_nonce: nonce, version_info }),
    );
  }

  ack(names = this.#names): AckVerdict {
    return this.ask(names);
  }

  nack(message = 'no'): AckVerdict {
    return this.subscription.request(
      sotwRequest({
        resource_names: this.#names,
        response_nonce: this.last?.nonce ?? '',
        error_detail: { code: 3, message },
      }),
    );
  }

  /**
   * Returns what is sent now, as `name=content`.
   * @returns undefined when there is no response
   */
  sent(resources: Resources, keep = false): readonly string[] | undefined {
    this.#nonces += 1;
    this.#offered = resources;
    const response = this.subscription.respond(resources, { nonce: String(this.#nonces), keep });
    if (response === undefined) return undefined;
    this.last = response;
    return response.resources.map(({ value }) => Buffer.from(value).toString()).sort();
  }

  /** Towards what it was last given to send. */
  standing(): AckState {
    return this.subscription.standing(this.#offered);
  }
}
