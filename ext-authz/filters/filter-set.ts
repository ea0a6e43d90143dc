import { createHash } from 'node:crypto';
import type { Definitions, FilterDefinition } from '#ext-authz/policy/filter-settings.ts';
import { parseFilter } from '#ext-authz/policy/parse-filter.ts';
import { parsePolicy } from '#ext-authz/policy/parse-policy.ts';
import { orderedRules, type Policy } from '#ext-authz/policy/policy.ts';
import type { Rule } from '#ext-authz/policy/rule.ts';
import { FILTER, FILTER_POLICY } from '#protos/type-url.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import type { Update } from '#xds/client-subscription.ts';
import type { XdsResource } from '#xds/snapshot.ts';

/** The types that decide. Filters come first, so that a policy finds those that it names. */
export const FILTER_TYPES: readonly string[] = [FILTER, FILTER_POLICY];

/** All Filters and rules in force. What did not change is the very same object. */
export type Configuration = {
  readonly definitions: Definitions;
  readonly rules: readonly Rule[];
  /** The rules that proxies may still go by. What one of them restricts stays restricted. */
  readonly earlier: readonly (readonly Rule[])[];
};

/** The Filters and FilterPolicies in force, by the name of the resource that they came in. */
export class FilterSet {
  readonly #peers: () => Iterable<FilterSet>;
  readonly #filters = new Map<string, Held<FilterDefinition>>();
  readonly #policies = new Map<string, Held<Policy>>();
  /** The types of which everything has arrived. */
  readonly #complete = new Set<string>();
  /** What is in force. The Filters are absent once others have come. */
  #definitions: Definitions | undefined;
  #rules: readonly Rule[] | undefined;
  /** The rules that were in force when a policy came that has them hold, by its name. */
  readonly #earlier = new Map<string, readonly Rule[]>();

  /** What `peers` have with the same content is the very same object here. */
  constructor(peers: () => Iterable<FilterSet> = () => []) {
    this.#peers = peers;
  }

  /**
   * Accepts a change as a whole, or rejects it as a whole with an error that names the resource. A
   * rejected change changes nothing. Returns a configuration when all resources of both types are
   * present. Until then, and in the middle of a large change, the earlier one is in force.
   */
  update({
    typeUrl,
    changed,
    removed,
    complete,
  }: Pick<Update, 'typeUrl' | 'changed' | 'removed' | 'complete'>): Parsed<
    Configuration | undefined
  > {
    const peers = [...this.#peers()].filter(peer => peer !== this);
    const taken =
      typeUrl === FILTER
        ? take(this.#filters, 'Filter', changed, removed, {
            known: peers.map(peer => peer.#filters),
            contentOf: filterContent,
            parse: toFilter,
          })
        : take(this.#policies, 'FilterPolicy', changed, removed, {
            known: peers.map(peer => peer.#policies),
            contentOf: ({ version }) => version,
            parse: ({ any }) => parsePolicy(any.value),
          });
    if ('error' in taken) return taken;
    if (typeUrl === FILTER) this.#definitions = undefined;
    if (complete) this.#complete.add(typeUrl);
    else this.#complete.delete(typeUrl);
    if (!FILTER_TYPES.every(type => this.#complete.has(type))) return { value: undefined };
    this.#keepEarlier();
    const rules = orderedRules([...this.#policies.values()].map(({ value }) => value));
    if (this.#rules === undefined || !isSameList(this.#rules, rules)) this.#rules = rules;
    this.#definitions ??= new Map([...this.#filters].map(([name, { value }]) => [name, value]));
    const earlier = [...new Set(this.#earlier.values())];
    return { value: { definitions: this.#definitions, rules: this.#rules, earlier } };
  }

  #keepEarlier(): void {
    for (const name of [...this.#earlier.keys()])
      if (!this.#policies.has(name)) this.#earlier.delete(name);
    for (const [name, { value }] of this.#policies)
      if (value.earlierRules && this.#rules !== undefined && !this.#earlier.has(name))
        this.#earlier.set(name, this.#rules);
  }
}

/** Whether both have the very same objects. */
export function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a === b || (a.length === b.length && a.every((each, index) => each === b[index]));
}

/** Each control plane has versions of its own for a Filter, since it may have secrets. */
function filterContent({ any }: XdsResource): string {
  return createHash('sha256').update(any.value).digest('base64');
}

function toFilter({ name, version, any }: XdsResource): Parsed<FilterDefinition> {
  return parseFilter(name, version, any.value);
}

/** `content` is equal where the content is. */
type Held<T> = { readonly content: string; readonly value: T };

function take<T>(
  into: Map<string, Held<T>>,
  kind: string,
  changed: readonly XdsResource[],
  removed: readonly string[],
  {
    contentOf,
    known,
    parse,
  }: {
    contentOf(resource: XdsResource): string;
    readonly known: readonly ReadonlyMap<string, Held<T>>[];
    parse(resource: XdsResource): Parsed<T>;
  },
): Parsed<undefined> {
  const parsed: [string, Held<T>][] = [];
  for (const resource of changed) {
    const { name } = resource;
    const content = contentOf(resource);
    const same = known.map(each => each.get(name)).find(held => held?.content === content);
    const read = same ?? parse(resource);
    if ('error' in read) return { error: `${kind} ${name}: ${read.error}` };
    parsed.push([name, { content, value: read.value }]);
  }
  for (const [name, value] of parsed) into.set(name, value);
  for (const name of removed) into.delete(name);
  return { value: undefined };
}
