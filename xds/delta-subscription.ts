import { changedNames, type DeltaPart, deltaParts, PartBuilder } from './delta-parts.ts';
import type { DeltaDiscoveryRequest, DeltaDiscoveryResponse } from './discovery.ts';
import { WILDCARD } from './discovery.ts';
import { Holdings } from './holdings.ts';
import { NameSet } from './name-set.ts';
import { ABSENT, Refusals } from './refusals.ts';
import { type Resources, resourcesVersion, type XdsResource } from './snapshot.ts';
import type { AckState, AckVerdict, Subscription, Turn } from './subscription.ts';
import type { TypeRules } from './type-rules.ts';

type Sent = {
  readonly nonce: string;
  readonly version: string;
  readonly part: DeltaPart;
};

/** What is due, and whether it is all that is due. */
type Due = { readonly part: DeltaPart; readonly isAll: boolean };

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
  readonly #held = new Holdings();
  /** Shared parts of which the client was sent those before `next`, on top of what it holds. */
  #onWay: { readonly parts: readonly DeltaPart[]; readonly next: number } | undefined;
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

  knows(name: string): 'asked' | 'acked' | undefined {
    if (!this.#names.has(name) && !this.#wildcard) return undefined;
    const isSent = typeof this.#held.get(name) === 'string';
    return isSent && !this.#inFlight?.part.told.has(name) ? 'acked' : 'asked';
  }

  repeat(concerns: (name: string) => boolean): void {
    const held = [...new Set([...this.#held.base.keys(), ...this.#held.apart])].filter(concerns);
    if (held.length === 0) return;
    this.#leaveWay();
    this.#nothingIn = undefined;
    for (const name of held) this.#owe(name);
  }

  retry(): void {
    this.#refusals.clear();
    this.#nothingIn = undefined;
  }

  get size(): number {
    // A client that reads no answers makes the server owe more names than it subscribes to.
    return Math.max(this.#names.size, this.#owed.size);
  }

  get brought(): number {
    return Math.max(0, this.#held.size - this.#names.size);
  }

  get bytes(): number {
    return this.#names.bytes + this.#owed.bytes + this.#broughtBytes;
  }

  request(request: DeltaDiscoveryRequest): AckVerdict {
    if (asks(request) || request.error_detail !== null) this.#leaveWay();
    const verdict = this.#judge(request);
    if (!this.#started) this.#start(request);
    else for (const name of request.resource_names_subscribe) this.#owe(name);
    for (const name of request.resource_names_subscribe) this.#subscribe(name);
    for (const name of request.resource_names_unsubscribe) this.#unsubscribe(name);
    if (asks(request) || verdict.kind === 'nack') this.#nothingIn = undefined;
    return verdict;
  }

  respond(resources: Resources, turn: Turn): DeltaDiscoveryResponse | undefined {
    if (!this.#started || this.#inFlight !== undefined) return undefined;
    this.#held.compare(resources);
    if (this.#nothingIn?.resources === resources && this.#nothingIn.keep === turn.keep)
      return undefined;
    const { part, isAll } = this.#sharedDue(resources, turn) ?? this.#ownDue(resources, turn);
    const isDue = part.told.size > 0 || this.#owesFirstAnswer();
    const response = isDue ? this.#send(part, resources, turn.nonce) : undefined;
    if (isAll) this.#settle(resources, turn);
    this.#nothingIn = isDue ? undefined : { resources, keep: turn.keep };
    return response;
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
    const rejected = [...sent.part.told].filter(
      ([name]) => this.#wildcard || this.#names.has(name),
    );
    for (const [name] of rejected) this.#held.set(name, undefined);
    this.#refusals.add(new Map(rejected));
    return {
      kind: 'nack',
      version: sent.version,
      names: namesIn(sent.part),
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
    const brought = request.initial_resource_versions;
    if (this.#wildcard || request.resource_names_subscribe.includes(WILDCARD)) {
      this.#held.bring(brought);
      this.#broughtBytes = brought.bytes;
      this.#resumed = brought.size > 0;
      return;
    }
    const subscribed = new Set(request.resource_names_subscribe);
    for (const [name, version] of brought.versions()) {
      if (!subscribed.has(name)) continue;
      this.#held.set(name, version);
      this.#broughtBytes += Buffer.byteLength(name) + Buffer.byteLength(version);
      this.#resumed = true;
    }
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
    const known = [...this.#held.base.keys(), ...this.#held.apart, ...this.#owed];
    this.#held.keepOnly(this.#names);
    for (const name of known) if (!this.#names.has(name)) this.#forget(name);
  }

  #forget(name: string): void {
    this.#held.delete(name);
    this.#owed.delete(name);
    this.#refusals.forget(name);
  }

  /**
   * Returns what is due of what other streams are told too.
   * @returns undefined when the client holds, or asks for, anything that others may not
   */
  #sharedDue(resources: Resources, turn: Turn): Due | undefined {
    const isShared =
      this.#wildcard && this.#held.isShared && this.#names.size === 0 && this.#owed.size === 0;
    const parts = isShared ? deltaParts(this.#held.base, resources) : [];
    if (this.#onWay?.parts !== parts) this.#leaveWay();
    if (!isShared || !this.#held.isShared) return undefined;
    if (parts.some(({ removed }) => removed.some(name => isKept(name, turn)))) {
      this.#leaveWay();
      return undefined;
    }
    const next = this.#onWay?.next ?? 0;
    const isAll = next + 1 >= parts.length;
    this.#onWay = isAll ? undefined : { parts, next: next + 1 };
    return { part: parts[next] ?? NO_PART, isAll };
  }

  /** Something else comes before the rest of the parts, so what was sent of them is noted. */
  #leaveWay(): void {
    const { parts = [], next = 0 } = this.#onWay ?? {};
    this.#onWay = undefined;
    for (const part of parts.slice(0, next)) this.#tell(part);
  }

  /** Returns what the client has to be told, up to the size of one response. */
  #ownDue(resources: Resources, turn: Turn): Due {
    this.#refusals.release(name => this.#version(name, resources));
    const builder = new PartBuilder();
    for (const name of this.#candidates(resources)) {
      const change = this.#change(name, resources, turn);
      if (change !== undefined && !builder.add(name, change))
        return { part: builder.part, isAll: false };
    }
    return { part: builder.part, isAll: true };
  }

  #candidates(resources: Resources): Iterable<string> {
    if (!this.#wildcard)
      return this.#owed.size === 0 ? this.#names : new Set([...this.#names, ...this.#owed]);
    const { apart, base } = this.#held;
    const isNews = (name: string) => {
      const resource = resources.get(name);
      return resource === undefined || resource.version !== this.#held.get(name);
    };
    // A client that comes back holds thousands of names as they are.
    const changed = changedNames(base, resources).filter(isNews);
    return new Set([...changed, ...this.#names, ...this.#owed, ...apart.filter(isNews)]);
  }

  /**
   * The client is being sent all that it lacks of these resources, so it will hold all of them. It
   * may hold what it must not lose yet, too.
   */
  #settle(resources: Resources, { keeps }: Turn): void {
    if (!this.#wildcard || !this.#refusals.isEmpty) return;
    const { base: before } = this.#held;
    const base = keeps === undefined || before === resources ? [] : before.keys();
    const kept = [...base].flatMap(name =>
      !resources.has(name) && keeps?.(name) ? [[name, this.#held.get(name)] as const] : [],
    );
    this.#held.rebase(
      resources,
      (name, held) => this.#names.has(name) || typeof held === 'string' || held === undefined,
    );
    for (const [name, held] of kept) this.#held.set(name, held);
    this.#broughtBytes = 0;
  }

  /**
   * Returns what to say about one name.
   * @returns undefined when there is nothing to say
   */
  #change(name: string, resources: Resources, turn: Turn): XdsResource | typeof ABSENT | undefined {
    if (this.#owed.has(name)) return this.#answer(name, resources);
    if (this.#refusals.has(name)) return undefined;
    const change = this.#news(name, resources);
    // The client holds it from before this stream and may use it. It is neither removed nor emptied
    // yet.
    const withheld =
      change !== undefined &&
      isKept(name, turn) &&
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
    const isWhole = this.#rules.partsOf === undefined;
    return this.#wildcard && isWhole && !this.#answered && !this.#resumed;
  }

  #send(part: DeltaPart, resources: Resources, nonce: string): DeltaDiscoveryResponse {
    if (this.#onWay === undefined) this.#tell(part);
    const version = resourcesVersion(resources) + (this.#nacks > 0 ? `-${this.#nacks}` : '');
    this.#inFlight = { nonce, version, part };
    this.#sent = version;
    this.#answered = true;
    return {
      system_version_info: version,
      resources: part.resources,
      removed_resources: part.removed,
      type_url: this.#typeUrl,
      nonce,
    };
  }

  #tell({ told }: DeltaPart): void {
    for (const [name, what] of told) {
      this.#owed.delete(name);
      this.#refusals.forget(name);
      // A removed name that the client does not subscribe to by name needs no memory.
      if (what === ABSENT && !this.#names.has(name)) this.#held.delete(name);
      else this.#held.set(name, what);
    }
  }
}

/** Names what is sent before what goes. */
function namesIn({ resources, removed }: DeltaPart): readonly string[] {
  return [...resources.map(({ name }) => name), ...removed];
}

const NO_PART: DeltaPart = { resources: [], removed: [], told: new Map() };

function asks(request: DeltaDiscoveryRequest): boolean {
  return request.resource_names_subscribe.length + request.resource_names_unsubscribe.length > 0;
}

function isKept(name: string, { keep, keeps }: Turn): boolean {
  return keep || (keeps?.(name) ?? false);
}
