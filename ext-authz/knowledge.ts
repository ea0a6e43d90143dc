import type { FilterKit } from '#ext-authz/filters/filter-kit.ts';
import { StoreUnavailable } from '#ext-authz/store/record-store.ts';
import type { UnaryMethod } from '#grpc/unary/method.ts';
import { knowledgeMethod } from '#process/knowledge-method.ts';

const SERVICE = 'LoginKnowledge';
/** Sessions of a Filter in one answer, whatever is asked for. */
const MOST = 1_000;

/** The methods by which operators see logins. `store` is its kind. */
export function knowledgeMethods(
  kit: Pick<FilterKit, 'keySets' | 'providers' | 'sessionLists'>,
  store: string,
): readonly UnaryMethod[] {
  const method = (name: string, handle: Parameters<typeof knowledgeMethod>[2]) =>
    knowledgeMethod(SERVICE, name, handle, error => error instanceof StoreUnavailable);
  return [
    method('ListSessions', async ({ most }) => {
      const filters: object[] = [];
      // One after the other, since each list asks the store for a hundred records at once.
      for (const [filter, sessions] of kit.sessionLists()) {
        const { entries, more } = await sessions.list(MOST);
        const shown = entries.slice(0, Math.min(Number(most), MOST));
        filters.push({ filter, count: entries.length, more, sessions: shown.map(toMessage) });
      }
      return { filters, store };
    }),
    method('ListProviders', () => ({ providers: kit.providers() })),
    method('ListKeySets', async () => ({ sets: await kit.keySets() })),
  ];
}

type Entry = { user: string; name: string; begun: number; seen: number; ends: number };

function toMessage({ begun, ends, name, seen, user }: Readonly<Entry>) {
  return { user, name, begun_ms: begun, seen_ms: seen, ends_ms: ends };
}
