/** The answers of one connected proxy to what is served to its group. */
export type ClientAck = {
  /** The id of the proxy's stream. Another stream has another id. */
  readonly id: string;
  readonly group: string;
  readonly state: 'waiting' | 'settled' | 'rejected';
  /** The proxy's message when it rejected. */
  readonly refusal?: string | undefined;
};

export type RolloutVerdict = 'accepted' | 'undecided' | { readonly rejected: string };

/**
 * Returns what the proxies together say of a trial that changed the configuration of `groups`.
 * - Rejected: as soon as one proxy rejects it.
 * - `accepted`: the connected proxies accepted it, or no connected proxy gets it.
 * - `undecided`: a proxy that is not late has not answered, or no proxy is connected.
 *
 * A late proxy does not hold the others. A group of `awaited` does as long as none of its proxies
 * is connected.
 */
export function rolloutVerdict(
  proxies: Iterable<ClientAck>,
  groups: ReadonlySet<string>,
  isLate: (proxy: ClientAck) => boolean,
  awaited: ReadonlySet<string> = new Set(),
): RolloutVerdict {
  const all = [...proxies];
  const concerned = all.filter(({ group }) => groups.has(group));
  const refusing = concerned.find(({ state }) => state === 'rejected');
  if (refusing !== undefined) return { rejected: refusing.refusal ?? 'it gave no reason' };
  if (all.length === 0) return 'undecided';
  const here = new Set(concerned.map(({ group }) => group));
  if ([...groups].some(group => awaited.has(group) && !here.has(group))) return 'undecided';
  const waiting = concerned.filter(({ state }) => state === 'waiting');
  if (waiting.length === 0) return 'accepted';
  return waiting.every(isLate) && waiting.length < concerned.length ? 'accepted' : 'undecided';
}
