import CachePolicy from 'http-cache-semantics';

/** How long, in ms from its receipt, a document may at least be used again. */
const REUSE_MS = 10_000;
const UNSAID_MS = 5 * 60_000;
/** A lifetime of a year in a header would keep a withdrawn key as long. */
const LONGEST_MS = 24 * 3_600_000;

/**
 * Returns how long an answer may be used again without asking, in ms from its receipt. It is at
 * least 10 s and at most a day (plus `maxStale`). Freshness is that of RFC 9111 sections 4.2 and
 * 5.2 for a private cache. It is 5 minutes where the answer says nothing of it. `maxStale` (ms)
 * above 0 adds to it, unless `must-revalidate` forbids, and `no-store` and `no-cache` do not count.
 * `now` is ms since the epoch. See docs/reference/kinds/filter.md and docs/adr/0013-providers.md.
 */
export function usableFor(answer: Headers, maxStale: number, now: number): number {
  const headers: CacheHeaders = { ...headersOf(answer, maxStale), date: dateOf(answer, now) };
  const fresh = Math.min(LONGEST_MS, freshFor(headers));
  const stale = /\bmust-revalidate\b/.test(headers['cache-control'] ?? '') ? 0 : maxStale;
  return Math.max(REUSE_MS, fresh + stale);
}

type CacheHeaders = Readonly<Record<string, string>>;

/** The library tells directives by their lower-case names. */
function headersOf(answer: Headers, maxStale: number): CacheHeaders {
  const control = (answer.get('cache-control') ?? '').toLowerCase();
  const kept =
    maxStale > 0
      ? control.replace(/(?:^|,)\s*no-(?:store|cache)(?:\s*=\s*(?:"[^"]*"|[^,]*))?/g, '')
      : control;
  const others = ['age', 'expires', 'vary', ...(maxStale > 0 ? [] : ['pragma'])];
  const present = others.flatMap(name => {
    const value = answer.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries([
    ...present,
    ...(kept === '' ? [] : [['cache-control', kept] as const]),
  ]);
}

function freshFor(headers: CacheHeaders): number {
  const policy = new CachePolicy(
    { headers: {} },
    { status: 200, headers },
    { shared: false, cacheHeuristic: 0 },
  );
  if (!policy.storable()) return 0;
  // The library's `age()` looks at the clock.
  const age = Math.max(0, Number.parseInt(headers.age ?? '', 10) || 0);
  const seconds = policy.maxAge() - age;
  return seconds <= 0 && isUnsaid(headers) ? UNSAID_MS : Math.max(0, seconds * 1_000);
}

/** Returns the time of receipt without a Date that can be read (RFC 9110 section 6.6.1). */
function dateOf(answer: Headers, now: number): string {
  const date = answer.get('date') ?? '';
  return Number.isNaN(Date.parse(date)) ? new Date(now).toUTCString() : date;
}

function isUnsaid(headers: CacheHeaders): boolean {
  return (
    headers.expires === undefined &&
    headers.pragma === undefined &&
    !/\b(?:max-age|no-cache|no-store)\b/.test(headers['cache-control'] ?? '')
  );
}
