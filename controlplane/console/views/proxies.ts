import type { ProxyStatus } from '#controlplane/status/status.ts';
import { compareText } from '#resources/words/order.ts';

/** One word about a proxy. */
export type ProxyWord = 'in sync' | 'behind' | 'rejecting';

export type ProxyRow = ProxyStatus & {
  readonly word: ProxyWord;
  /** When it last answered, ISO 8601. */
  readonly at?: string;
};

export type ProxyCounts = Readonly<Record<ProxyWord, number>>;

/** Returns the proxies, those with trouble first. */
export function proxyRows(proxies: readonly ProxyStatus[]): readonly ProxyRow[] {
  return proxies
    .map(proxy => ({ ...proxy, word: wordOf(proxy), ...lastAnswer(proxy) }))
    .sort((a, b) => RANK[a.word] - RANK[b.word] || compare(a, b));
}

const RANK: Readonly<Record<ProxyWord, number>> = { rejecting: 0, behind: 1, 'in sync': 2 };

export function proxyCounts(proxies: readonly ProxyStatus[]): ProxyCounts {
  const counts = { 'in sync': 0, behind: 0, rejecting: 0 };
  for (const proxy of proxies) counts[wordOf(proxy)] += 1;
  return counts;
}

function wordOf({ standing, types }: ProxyStatus): ProxyWord {
  if (standing === 'rejected' || types.some(({ nack }) => nack !== undefined)) return 'rejecting';
  return standing === 'settled' ? 'in sync' : 'behind';
}

function lastAnswer({ types }: ProxyStatus): { readonly at?: string } {
  const [at] = types
    .flatMap(({ at }) => (at === undefined ? [] : [at]))
    .sort((a, b) => (a < b ? 1 : -1));
  return at === undefined ? {} : { at };
}

function compare(a: ProxyRow, b: ProxyRow): number {
  return compareText(`${a.group} ${a.node}`, `${b.group} ${b.node}`);
}
