import type { Any } from '#protos/encode.ts';
import { type DiscoveryRequest, type DiscoveryResponse, WILDCARD } from './discovery.ts';
import { NameSet } from './name-set.ts';
import { ResponseTooLarge } from './response-too-large.ts';
import { type Resources, resourcesVersion, type XdsResource } from './snapshot.ts';
import type { AckState, AckVerdict, Subscription, Turn } from './subscription.ts';
import type { TypeRules } from './type-rules.ts';

/**
 * Largest size of the resources in a response, in bytes. This variant cannot send a part of them,
 * and a short name may stand for many endpoints.
 */
const MAX_SOTW_BYTES = 128 * 1024 * 1024;

type Sent = { readonly version: string; readonly content: Resources };

/**
 * A subscription of the state-of-the-world variant.
 * See Envoy's "xDS REST and gRPC protocol".
 */
export class SotwSubscription implements Subscription<DiscoveryRequest, DiscoveryResponse> {
  readonly #typeUrl: string;
  readonly #rules: TypeRules;
  #names = new NameSet();
  /** Name to version of what the client holds as far as is known. */
  readonly #held = new Map<string, string>();
  #wildcard = false;
  #started = false;
  #hasNamed = false;
  /** Whether the client has asked for something that it may have been sent before. */
  #owes = false;
  #nonce = '';
  #inFlight: Sent | undefined;
  /** The content that was rejected last. It is not sent again. */
  #rejected: Resources | undefined;
  #nacks = 0;
  #sent: string | undefined;
  /** Names that the client brought from an earlier stream and may still use. */
  #brought = new NameSet();

  constructor(typeUrl: string, rules: TypeRules) {
    this.#typeUrl = typeUrl;
    this.#rules = rules;
  }

  get sent(): string | undefined {
    return this.#sent;
  }

  get onlyName(): string | undefined {
    const [name] = this.#names;
    return this.#wildcard || this.#names.size !== 1 ? undefined : name;
  }

  /** Virtual hosts come only by the incremental variant, so nothing depends on an ACK. */
  knows(name: string): 'asked' | undefined {
    return this.#names.has(name) ? 'asked' : undefined;
  }

  repeat(): void {}

  retry(): void {
    this.#rejected = undefined;
  }

  get size(): number {
    return this.#names.size;
  }

  get brought(): number {
    return Math.max(0, this.#brought.size - this.#names.size);
  }

  get bytes(): number {
    return this.#names.bytes + this.#brought.bytes;
  }

  request(request: DiscoveryRequest): AckVerdict {
    // A request that answers an older response is superseded by one on its way.
    const stale =
      request.response_nonce !== '' && this.#nonce !== '' && request.response_nonce !== this.#nonce;
    if (stale) return { kind: 'none' };
    const sent = request.response_nonce === this.#nonce ? this.#inFlight : undefined;
    if (!this.#started && request.version_info !== '')
      this.#brought = NameSet.of(request.resource_names);
    this.#subscribe(request.resource_names, sent === undefined);
    if (sent === undefined) return { kind: 'none' };
    this.#inFlight = undefined;
    if (request.error_detail === null) return this.#accept(sent);
    this.#refuse(sent);
    return {
      kind: 'nack',
      version: sent.version,
      names: [...sent.content.keys()],
      error: request.error_detail,
    };
  }

  respond(resources: Resources, turn: Turn): DiscoveryResponse | undefined {
    if (!this.#started || this.#inFlight !== undefined) return undefined;
    const wanted = this.#wanted(resources, turn.keep);
    if (!this.#due(wanted)) {
      // Even empty content differs from what was rejected.
      this.#rejected = undefined;
      return undefined;
    }
    const rejected = this.#rejected;
    if (rejected !== undefined && resourcesVersion(rejected) === resourcesVersion(wanted))
      return undefined;
    return this.#send(wanted, turn.nonce);
  }

  standing(target: Resources): AckState {
    if (this.#inFlight !== undefined) return 'waiting';
    if (this.#rejected === undefined) return 'settled';
    const wanted = this.#wanted(target, false);
    const rejected = [...this.#rejected].some(
      ([name, { version }]) => wanted.get(name)?.version === version,
    );
    return rejected ? 'rejected' : 'settled';
  }

  #accept(sent: Sent): AckVerdict {
    this.#rejected = undefined;
    return { kind: 'ack', version: sent.version };
  }

  #refuse(sent: Sent): void {
    this.#rejected = sent.content;
    this.#nacks += 1;
    // A client may have applied a part of what it rejected, so what it holds is unknown.
    this.#held.clear();
    this.#owes = true;
  }

  #subscribe(names: readonly string[], repeats: boolean): void {
    const before = this.#names;
    this.#hasNamed ||= names.length > 0;
    this.#names = NameSet.of(names.filter(name => name !== WILDCARD));
    this.#wildcard = this.#rules.wildcard && (names.includes(WILDCARD) || !this.#hasNamed);
    const added = [...this.#names].some(name => !before.has(name));
    const repeated = repeats && this.#rules.answersRepeats && this.#names.size > 0;
    this.#owes ||= !this.#started ? this.#wildcard || this.#rules.fullState : added || repeated;
    this.#started = true;
    if (this.#wildcard) return;
    for (const name of this.#held.keys()) if (!this.#names.has(name)) this.#held.delete(name);
  }

  /** Returns the existing resources that the client subscribes to. */
  #wanted(resources: Resources, keep: boolean): Resources {
    if (this.#wildcard && [...this.#names].every(name => resources.has(name))) return resources;
    const wanted = new Map<string, XdsResource>(this.#wildcard ? resources : []);
    for (const name of this.#names) {
      const resource = resources.get(name) ?? this.#unknown(name, keep);
      if (resource !== undefined) wanted.set(name, resource);
    }
    return wanted;
  }

  #unknown(name: string, keep: boolean): XdsResource | undefined {
    // The client holds it from before this stream and may use it, so it is not emptied yet.
    if (keep && this.#brought.has(name)) return undefined;
    return typeof this.#rules.unknown === 'function' ? this.#rules.unknown(name) : undefined;
  }

  #due(wanted: Resources): boolean {
    // An empty answer says "there is nothing" only of listeners and clusters. Of other types it
    // says nothing.
    if (this.#owes && (wanted.size > 0 || this.#wildcard || this.#rules.fullState)) return true;
    for (const [name, { version }] of wanted) if (this.#held.get(name) !== version) return true;
    return this.#rules.fullState && [...this.#held.keys()].some(name => !wanted.has(name));
  }

  #send(wanted: Resources, nonce: string): DiscoveryResponse {
    const resources = anysOf(wanted);
    const content = resourcesVersion(wanted);
    const version = this.#nacks > 0 ? `${content}-${this.#nacks}` : content;
    if (this.#rules.fullState) this.#held.clear();
    for (const [name, resource] of wanted) this.#held.set(name, resource.version);
    this.#owes = false;
    this.#nonce = nonce;
    this.#inFlight = { version, content: wanted };
    this.#sent = version;
    return { version_info: version, resources, type_url: this.#typeUrl, nonce };
  }
}

function anysOf(resources: Resources): readonly Any[] {
  let bytes = 0;
  return [...resources.values()].map(({ any }) => {
    bytes += any.value.length;
    if (bytes > MAX_SOTW_BYTES)
      throw new ResponseTooLarge(
        `the response would have more than ${MAX_SOTW_BYTES} bytes: ask for fewer names, or by the incremental variant`,
      );
    return any;
  });
}
