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
  readonly #filters = new Map<string, FilterDefinition>();
  readonly #policies = new Map<string, Policy>();
  /** The types of which everything has arrived. */
  readonly #complete = new Set<string>();
  /** What is in force. The Filters are absent once others have come. */
  #definitions: Definitions | undefined;
  #rules: readonly Rule[] | undefined;
  /** The rules that were in force when a policy came that has them hold, by its name. */
  readonly #earlier = new Map<string, readonly Rule[]>();

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
    const taken =
      typeUrl === FILTER
        ? take(this.#filters, 'Filter', changed, removed, toFilter)
        : take(this.#policies, 'FilterPolicy', changed, removed, ({ any }) =>
            parsePolicy(any.value),
          );
    if ('error' in taken) return taken;
    if (typeUrl === FILTER) this.#definitions = undefined;
    if (complete) this.#complete.add(typeUrl);
    else this.#complete.delete(typeUrl);
    if (!FILTER_TYPES.every(type => this.#complete.has(type))) return { value: undefined };
    this.#keepEarlier();
    const rules = orderedRules([...this.#policies.values()]);
    if (this.#rules === undefined || !isSame(this.#rules, rules)) this.#rules = rules;
    this.#definitions ??= new Map(this.#filters);
    const earlier = [...new Set(this.#earlier.values())];
    return { value: { definitions: this.#definitions, rules: this.#rules, earlier } };
  }

  #keepEarlier(): void {
    for (const name of [...this.#earlier.keys()])
      if (!this.#policies.has(name)) this.#earlier.delete(name);
    for (const [name, { earlierRules }] of this.#policies)
      if (earlierRules && this.#rules !== undefined && !this.#earlier.has(name))
        this.#earlier.set(name, this.#rules);
  }
}

function isSame(a: readonly Rule[], b: readonly Rule[]): boolean {
  return a.length === b.length && a.every((rule, index) => rule === b[index]);
}

function toFilter({ name, version, any }: XdsResource): Parsed<FilterDefinition> {
  return parseFilter(name, version, any.value);
}

function take<T>(
  into: Map<string, T>,
  kind: string,
  changed: readonly XdsResource[],
  removed: readonly string[],
  parse: (resource: XdsResource) => Parsed<T>,
): Parsed<undefined> {
  const parsed: [string, T][] = [];
  for (const resource of changed) {
    const value = parse(resource);
    if ('error' in value) return { error: `${kind} ${resource.name}: ${value.error}` };
    parsed.push([resource.name, value.value]);
  }
  for (const [name, value] of parsed) into.set(name, value);
  for (const name of removed) into.delete(name);
  return { value: undefined };
}
