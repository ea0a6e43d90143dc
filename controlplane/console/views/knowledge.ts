import { HIDDEN_TEXT } from '#controlplane/diff/field-changes.ts';
import type {
  CounterKey,
  Counters,
  Knowledge,
  LimitCounters,
  ProviderState,
  Sessions,
} from '#controlplane/knowledge/knowledge.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { SENSITIVE } from './redacted.ts';

/** What is known, or why it is not. */
export type Known<T> = T | { readonly error: string };

/** A counter, with the values of labels that may be shown. */
export type ListedKey = CounterKey & {
  /** Whether all its values are shown as they are, so that it can be named to reset it. */
  readonly isWhole: boolean;
};

export type ListedCounters = Omit<LimitCounters, 'keys'> & { readonly keys: readonly ListedKey[] };

export type CountersView = Omit<Counters, 'limits'> & {
  readonly limits: readonly ListedCounters[];
};

export type LoginsView = {
  readonly sessions: Known<Sessions>;
  readonly providers: Known<{ readonly providers: readonly ProviderState[] }>;
};

/** Sessions of each Filter, and keys of each limit, that are shown. */
const MOST_SESSIONS = 100;
const MOST_KEYS = 5;
const MOST_LIMITS = 200;
/** However many browsers look, a service is asked this often, in ms. */
const ASK_EVERY_MS = 2_000;
const MOST_REMEMBERED = 100;

export async function loginsView(knowledge: Knowledge): Promise<LoginsView> {
  const [sessions, providers] = await Promise.all([
    orError(knowledge.sessions(MOST_SESSIONS)),
    orError(knowledge.providers().then(all => ({ providers: all }))),
  ]);
  return { sessions, providers };
}

/** Limits that count now come first. Values that may be credentials are hidden. */
export async function countersView(
  knowledge: Knowledge,
  resources: ResourceSet,
): Promise<Known<CountersView>> {
  const counters = await orError(knowledge.counters(MOST_KEYS));
  if ('error' in counters) return counters;
  const shown = shownKeys(resources);
  const limits = [...counters.limits]
    .sort((a, b) => rankOf(b) - rankOf(a) || (a.limit < b.limit ? -1 : 1))
    .slice(0, MOST_LIMITS)
    .map(limit => ({ ...limit, keys: limit.keys.map(key => hideValues(key, shown)) }));
  return { ...counters, limits };
}

function rankOf({ keys, over, overLogOnly }: LimitCounters): number {
  return over + overLogOnly > 0 ? 2 : Math.min(keys.length, 1);
}

/** Returns the answer, or why there is none. */
export async function orError<T>(answer: Promise<T>): Promise<Known<T>> {
  return answer.catch((error: Error) => ({ error: error.message }));
}

/** The labels that Envoy makes of itself. */
const OWN_KEYS = ['generic_key', 'remote_address', 'source_cluster', 'destination_cluster'];

/**
 * Returns the keys of labels whose values may be shown. The service does not tell which header a
 * value is of. So a value is hidden unless what is in force fills in its key from a harmless
 * header.
 */
function shownKeys({ config, mappings }: ResourceSet): ReadonlySet<string> {
  const [harmless, hidden] = [new Set(OWN_KEYS), new Set<string>()];
  const defaults = Object.values(config.default_labels).flatMap(each => each.defaults);
  const groups = mappings.flatMap(({ spec }) => Object.values(spec.labels ?? {}).flat());
  for (const specifier of [...defaults, ...groups.flatMap(({ specifiers }) => specifiers)])
    if (specifier.type === 'path') harmless.add(specifier.key);
    else if (specifier.type === 'request_header') {
      const isSensitive = SENSITIVE.test(specifier.header) || SENSITIVE.test(specifier.key);
      (isSensitive ? hidden : harmless).add(specifier.key);
    }
  return harmless.difference(hidden);
}

/** A path is shown without its query string. */
function hideValues(counter: CounterKey, shown: ReadonlySet<string>): ListedKey {
  const labels = counter.labels.map(({ key, value }) => ({
    key,
    value: shown.has(key) ? value.replace(/\?.*$/s, '') : HIDDEN_TEXT,
  }));
  const isWhole = labels.every(({ value }, at) => value === counter.labels[at]?.value);
  return { ...counter, labels, isWhole };
}

/** Asks once for all that ask the same, by `key`, within ASK_EVERY_MS. */
export function remembered<T>(
  now: () => number,
): (ask: () => Promise<T>, key?: string) => Promise<T> {
  const known = new Map<string, { readonly asked: number; readonly answer: Promise<T> }>();
  return (ask, key = '') => {
    const found = known.get(key);
    if (found !== undefined && Math.abs(now() - found.asked) < ASK_EVERY_MS) return found.answer;
    if (known.size >= MOST_REMEMBERED) known.clear();
    const answer = ask();
    known.set(key, { asked: now(), answer });
    return answer;
  };
}
