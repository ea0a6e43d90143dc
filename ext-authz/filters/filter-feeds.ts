import type { FilterDefinition } from '#ext-authz/policy/filter-settings.ts';
import type { Rule } from '#ext-authz/policy/rule.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import { type Configuration, FilterSet, isSameList } from './filter-set.ts';

/** What one control plane has sent. */
type Feed = {
  readonly set: FilterSet;
  configuration?: Configuration;
  /** Whether its control plane is connected, is away, or has gone for good. */
  state: FeedState;
};

export type FeedState = 'here' | 'away' | 'gone';

/**
 * Joins what several control planes send. Each of them may have an edit that the others do not have
 * yet, or not at all because they hang. So what the rules of any of them restrict is restricted.
 * While one is connected, those that are not do not count. Equal rules count once.
 */
export class FilterFeeds {
  /** In the order in which they last changed something, by the control plane. */
  readonly #feeds = new Map<object, Feed>();
  #joined: Configuration | undefined;

  /** Takes a change as `FilterSet` does. Returns what is in force by all of them. */
  update(
    from: object,
    change: Parameters<FilterSet['update']>[0],
  ): Parsed<Configuration | undefined> {
    const feed = this.#feeds.get(from) ?? { set: new FilterSet(() => this.#sets()), state: 'here' };
    this.#feeds.set(from, feed);
    const taken = feed.set.update(change);
    if ('error' in taken || taken.value === undefined) return taken;
    if (isNews(feed.configuration, taken.value)) {
      this.#feeds.delete(from);
      this.#feeds.set(from, feed);
    }
    feed.configuration = taken.value;
    feed.state = 'here';
    return { value: this.#join() };
  }

  /** Hears of the connection to a control plane. Returns what is in force by all of them. */
  turned(from: object, state: FeedState): Configuration | undefined {
    const feed = this.#feeds.get(from);
    if (feed === undefined) return undefined;
    feed.state = state;
    return this.#join();
  }

  *#sets(): Iterable<FilterSet> {
    for (const { set } of this.#feeds.values()) yield set;
  }

  #join(): Configuration | undefined {
    const isHere = ({ configuration, state }: Feed) =>
      configuration !== undefined && state === 'here';
    const someHere = [...this.#feeds.values()].some(isHere);
    for (const [from, { state }] of this.#feeds)
      if (someHere && state === 'gone') this.#feeds.delete(from);
    const counted = [...this.#feeds.values()]
      .filter(feed => !someHere || isHere(feed))
      .flatMap(({ configuration }) => configuration ?? []);
    const newest = counted.at(-1);
    if (newest !== undefined) this.#joined = this.#feeds.size === 1 ? newest : this.#both(counted);
    return newest && this.#joined;
  }

  /** The last one is the newest. */
  #both(counted: readonly Configuration[]): Configuration {
    const lists = this.#theSame(counted.map(({ rules }) => rules).reverse());
    const [newest = [], ...others] = lists;
    const [rules = newest, ...earlier] = this.#theSame([
      withRouteRules(newest, [...new Set(others)].filter(isNot(newest))),
      ...lists,
      ...counted.flatMap(each => each.earlier),
    ]);
    return {
      definitions: this.#theSameMap(new Map(counted.flatMap(each => [...each.definitions]))),
      rules,
      earlier: [...new Set(earlier)].filter(isNot(rules)),
    };
  }

  /** Returns the objects that are in use already, since to use others takes a while. */
  #theSame(lists: readonly (readonly Rule[])[]): readonly (readonly Rule[])[] {
    const { earlier = [], rules = [] } = this.#joined ?? {};
    const known = [rules, ...earlier];
    return lists.map(list => {
      const same = known.find(each => isSameList(each, list)) ?? list;
      known.push(same);
      return same;
    });
  }

  #theSameMap(next: Configuration['definitions']): Configuration['definitions'] {
    const used = this.#joined?.definitions;
    return used?.size === next.size && !hasOther(used, next) ? used : next;
  }
}

/** A route names its rule, and is closed where that one is not known. So all of them are. */
function withRouteRules(
  rules: readonly Rule[],
  others: readonly (readonly Rule[])[],
): readonly Rule[] {
  const named = others.flatMap(list => list.filter(({ routeRule }) => routeRule !== undefined));
  if (named.length === 0) return rules;
  const known = new Set(rules.map(({ routeRule }) => routeRule));
  const more = named.filter(({ routeRule }) => !known.has(routeRule));
  return more.length === 0 ? rules : [...rules, ...new Set(more)];
}

function isNews(before: Configuration | undefined, next: Configuration): boolean {
  return (
    before === undefined ||
    !isSameList(before.rules, next.rules) ||
    hasOther(before.definitions, next.definitions)
  );
}

function hasOther(
  known: ReadonlyMap<string, FilterDefinition>,
  next: ReadonlyMap<string, FilterDefinition>,
): boolean {
  return [...next].some(([name, definition]) => known.get(name) !== definition);
}

function isNot<T>(value: T): (other: T) => boolean {
  return other => other !== value;
}
