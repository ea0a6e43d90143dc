import type { DeltaDiscoveryRequest, DeltaDiscoveryResponse, DeltaResource } from './discovery.ts';
import { WILDCARD } from './discovery.ts';
import { NameSet } from './name-set.ts';
import { ABSENT, type Held, Refusals } from './refusals.ts';
import { type Resources, resourcesVersion, type XdsResource } from './snapshot.ts';
import type { AckState, AckVerdict, Subscription, Turn } from './subscription.ts';
import type { TypeRules } from './type-rules.ts';

/** Largest size of a response, in bytes. Many gRPC clients reject messages above 4 MiB. */
export const MAX_RESPONSE_BYTES = 2 * 1024 * 1024;

type Sent = {
  readonly nonce: string;
  readonly version: string;
  readonly held: ReadonlyMap<string, string | typeof ABSENT>;
};

type Changes = { readonly resources: DeltaResource[]; readonly removed: string[] };

/**
 * A subscription of the incremental variant.
 * See Envoy's "xDS REST and gRPC protocol", Incremental xDS.
 */
export class DeltaSubscription
  implements Subscription<DeltaDiscoveryRequest, DeltaDiscoveryResponse>
{
  readonly #typeUrl: string;
  readonly #rules: TypeRules;
  readonly #names = new NameSet();
  /**
   * What the client holds as far as is known. Undefined means anything, because a response was
   * rejected.
   */
  readonly #held = new Map<string, Held>();
  /** Names that are answered next, whatever the client holds. */
  readonly #owed = new NameSet();
  /** Bytes of the names and versions that the client brought from an earlier stream. */
  #broughtBytes = 0;
  readonly #refusals = new Refusals();
  #wildcard = false;
  #started = false;
  #answered = false;
  #resumed = false;
  #inFlight: Sent | undefined;
  #nacks = 0;
  #sent: string | undefined;
  /**
   * The last resources and `keep` that held nothing new for the client, while it has asked for
   * nothing since.
   */
  #nothingIn: { resources: Resources; keep: boolean } | undefined;

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

  get size(): number {
    // A client that reads no answers makes the server owe more names than it subscribes to.
    return Math.max(this.#names.size, this.#owed.size);
  }

  get bytes(): number {
    return this.#names.bytes + this.#owed.bytes + this.#broughtBytes;
  }

  request(request: DeltaDiscoveryRequest): AckVerdict {
    const verdict = this.#judge(request);
    if (!this.#started) this.#start(request);
    else for (const name of request.resource_names_subscribe) this.#owe(name);
    for (const name of request.resource_names_subscribe) this.#subscribe(name);
    for (const name of request.resource_names_unsubscribe) this.#unsubscribe(name);
    const asks =
      request.resource_names_subscribe.length + request.resource_names_unsubscribe.length > 0;
    if (asks || verdict.kind === 'nack') this.#nothingIn = undefined;
    return verdict;
  }

  respond(resources: Resources, turn: Turn): DeltaDiscoveryResponse | undefined {
    if (!this.#started || this.#inFlight !== undefined) return undefined;
    if (this.#nothingIn?.resources === resources && this.#nothingIn.keep === turn.keep)
      return undefined;
    this.#refusals.release(name => this.#version(name, resources));
    const changes = this.#changes(resources, turn.keep);
    if (changes.resources.length + changes.removed.length === 0 && !this.#owesFirstAnswer()) {
      this.#nothingIn = { resources, keep: turn.keep };
      return undefined;
    }
    return this.#send(changes, resources, turn.nonce);
  }

  standing(target: Resources): AckState {
    if (this.#inFlight !== undefined) return 'waiting';
    return this.#refusals.concern(name => this.#version(name, target)) ? 'rejected' : 'settled';
  }

  #judge(request: DeltaDiscoveryRequest): AckVerdict {
    const sent = this.#inFlight;
    // A stale nonce is no ACK, but its changes of the subscription count.
    if (sent === undefined || request.response_nonce !== sent.nonce) return { kind: 'none' };
    this.#inFlight = undefined;
    if (request.error_detail === null) return { kind: 'ack', version: sent.version };
    this.#nacks += 1;
    // A client may have applied a part of what it rejected.
    const rejected = [...sent.held].filter(([name]) => this.#wildcard || this.#names.has(name));
    for (const [name] of rejected) this.#held.set(name, undefined);
    this.#refusals.add(new Map(rejected));
    return {
      kind: 'nack',
      version: sent.version,
      names: [...sent.held.keys()],
      error: request.error_detail,
    };
  }

  #start(request: DeltaDiscoveryRequest): void {
    this.#started = true;
    const asksNothing =
      request.resource_names_subscribe.length === 0 &&
      request.resource_names_unsubscribe.length === 0;
    this.#wildcard = this.#rules.wildcard && asksNothing;
    if (!this.#rules.resumes) return;
    const all = this.#wildcard || request.resource_names_subscribe.includes(WILDCARD);
    const subscribed = new Set(request.resource_names_subscribe);
    for (const [name, version] of Object.entries(request.initial_resource_versions)) {
      if (!all && !subscribed.has(name)) continue;
      this.#held.set(name, version);
      this.#broughtBytes += Buffer.byteLength(name) + Buffer.byteLength(version);
    }
    this.#resumed = this.#held.size > 0;
  }

  /** A client that subscribes again may have forgotten what it had, so it is answered again. */
  #owe(name: string): void {
    if (name !== WILDCARD) this.#owed.add(name);
  }

  #subscribe(name: string): void {
    if (name !== WILDCARD) this.#names.add(name);
    else this.#wildcard = this.#rules.wildcard;
  }

  #unsubscribe(name: string): void {
    if (name === WILDCARD) this.#unsubscribeWildcard();
    else if (!this.#names.delete(name)) return;
    // The client cannot know whether the wildcard still covers the name.
    else if (this.#wildcard) this.#owe(name);
    else this.#forget(name);
  }

  #unsubscribeWildcard(): void {
    this.#wildcard = false;
    for (const name of [...this.#held.keys(), ...this.#owed])
      if (!this.#names.has(name)) this.#forget(name);
  }

  #forget(name: string): void {
    this.#held.delete(name);
    this.#owed.delete(name);
    this.#refusals.forget(name);
  }

  /** Returns what the client has to be told, up to the size of one response. */
  #changes(resources: Resources, keep: boolean): Changes {
    const changes: Changes = { resources: [], removed: [] };
    let bytes = 0;
    for (const name of this.#candidates(resources)) {
      const change = this.#change(name, resources, keep);
      if (change === undefined) continue;
      bytes +=
        name.length +
        (change === ABSENT ? 0 : change.any.value.length + change.any.type_url.length);
      if (bytes > MAX_RESPONSE_BYTES && changes.resources.length + changes.removed.length > 0)
        return changes;
      if (change === ABSENT) changes.removed.push(name);
      else changes.resources.push({ name, version: change.version, resource: change.any });
    }
    return changes;
  }

  #candidates(resources: Resources): Iterable<string> {
    if (!this.#wildcard)
      return this.#owed.size === 0 ? this.#names : new Set([...this.#names, ...this.#owed]);
    return new Set([...resources.keys(), ...this.#names, ...this.#owed, ...this.#held.keys()]);
  }

  /**
   * Returns what to say about one name.
   * @returns undefined when there is nothing to say
   */
  #change(
    name: string,
    resources: Resources,
    keep: boolean,
  ): XdsResource | typeof ABSENT | undefined {
    if (this.#owed.has(name)) return this.#answer(name, resources);
    if (this.#refusals.has(name)) return undefined;
    const change = this.#news(name, resources);
    // The client holds it from before this stream and may use it. It is neither removed nor emptied
    // yet.
    const withheld =
      change !== undefined &&
      keep &&
      typeof this.#held.get(name) === 'string' &&
      !resources.has(name);
    return withheld ? undefined : change;
  }

  /** Returns what the client does not know yet about a name. */
  #news(name: string, resources: Resources): XdsResource | typeof ABSENT | undefined {
    const answer = this.#answer(name, resources);
    const held = this.#held.get(name);
    if (answer !== ABSENT) return answer?.version === held ? undefined : answer;
    const untold = held !== ABSENT && (this.#held.has(name) || this.#names.has(name));
    return untold ? ABSENT : undefined;
  }

  /**
   * Returns the answer for a name, whatever the client knows.
   * @returns undefined for silence
   */
  #answer(name: string, resources: Resources): XdsResource | typeof ABSENT | undefined {
    const resource = resources.get(name);
    if (resource !== undefined) return resource;
    const { unknown } = this.#rules;
    if (!this.#names.has(name) || unknown === undefined) return ABSENT;
    return unknown === 'silence' ? undefined : unknown(name);
  }

  /**
   * Returns the version of a name that the client would be sent. ABSENT means that it would be told
   * that the resource does not exist.
   */
  #version(name: string, resources: Resources): string | typeof ABSENT {
    const answer = this.#answer(name, resources);
    return answer === undefined || answer === ABSENT ? ABSENT : answer.version;
  }

  /**
   * Whether a first answer is due, even an empty one. A client that subscribes to everything waits
   * for it. A client that resumes has had it.
   */
  #owesFirstAnswer(): boolean {
    return this.#wildcard && !this.#answered && !this.#resumed;
  }

  #send(changes: Changes, resources: Resources, nonce: string): DeltaDiscoveryResponse {
    const held = new Map<string, string | typeof ABSENT>();
    for (const { name, version } of changes.resources) held.set(name, version);
    for (const name of changes.removed) held.set(name, ABSENT);
    for (const [name, what] of held) this.#tell(name, what);
    const version = resourcesVersion(resources) + (this.#nacks > 0 ? `-${this.#nacks}` : '');
    this.#inFlight = { nonce, version, held };
    this.#sent = version;
    this.#answered = true;
    this.#nothingIn = undefined;
    return {
      system_version_info: version,
      resources: changes.resources,
      removed_resources: changes.removed,
      type_url: this.#typeUrl,
      nonce,
    };
  }

  #tell(name: string, what: string | typeof ABSENT): void {
    this.#owed.delete(name);
    this.#refusals.forget(name);
    // A removed name that the client does not subscribe to by name needs no memory.
    if (what === ABSENT && !this.#names.has(name)) this.#held.delete(name);
    else this.#held.set(name, what);
  }
}
