/** How one connected proxy stands to what is served to its group. */
export type Standing = {
  /** The proxy's stream: another one has another id. */
  readonly id: string;
  readonly group: string;
  readonly state: 'waiting' | 'settled' | 'refused';
  /** What it said when it refused. */
  readonly refusal?: string | undefined;
};

export type Verdict = 'accepted' | 'undecided' | { readonly refused: string };

/**
 * What the proxies together say of a trial that changed the configuration of `groups`: refused as
 * soon as one refuses it; `accepted` when those that are there took it, or when no proxy that is
 * there gets it; `undecided` while one has not answered that is not late, or when there is no proxy
 * at all. A proxy that does not answer in time does not hold the others. A group of `awaited` does
 * as long as no proxy of it is there.
 */
export function verdict(
  proxies: Iterable<Standing>,
  groups: ReadonlySet<string>,
  isLate: (proxy: Standing) => boolean,
  awaited: ReadonlySet<string> = new Set(),
): Verdict {
  const all = [...proxies];
  const concerned = all.filter(({ group }) => groups.has(group));
  const refusing = concerned.find(({ state }) => state === 'refused');
  if (refusing !== undefined) return { refused: refusing.refusal ?? 'it gave no reason' };
  if (all.length === 0) return 'undecided';
  const here = new Set(concerned.map(({ group }) => group));
  if ([...groups].some(group => awaited.has(group) && !here.has(group))) return 'undecided';
  const waiting = concerned.filter(({ state }) => state === 'waiting');
  if (waiting.length === 0) return 'accepted';
  return waiting.every(isLate) && waiting.length < concerned.length ? 'accepted' : 'undecided';
}
