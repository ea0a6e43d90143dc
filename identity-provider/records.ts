/**
 * The limit of what the provider keeps in memory, all kinds together. Beyond it the oldest is
 * removed.
 */
const MOST_RECORDS = 10_000;

/** A record as the provider writes it. These of its members are searched for. */
type Record = {
  readonly uid?: string;
  readonly userCode?: string;
  readonly grantId?: string;
  readonly consumed?: number;
};

type Kept = { readonly kind: string; readonly record: Record; readonly endsAt: number };

/** What the provider needs of a store for one kind of records. */
export type Adapter = {
  upsert(id: string, record: Record, seconds: number): Promise<void>;
  find(id: string): Promise<Record | undefined>;
  findByUid(uid: string): Promise<Record | undefined>;
  findByUserCode(userCode: string): Promise<Record | undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
};

/**
 * Opens a store of `most` records in memory. Returns an adapter for each kind of them. After a
 * restart of the provider, users log in again. `now` counts milliseconds.
 */
export function recordsInMemory(now: () => number, most = MOST_RECORDS): (kind: string) => Adapter {
  const records = new Map<string, Kept>();
  const isLive = ({ endsAt }: Kept) => endsAt > now();
  return kind => {
    const keyOf = (id: string) => `${kind} ${id}`;
    const find = (id: string) => {
      const kept = records.get(keyOf(id));
      return kept !== undefined && isLive(kept) ? kept.record : undefined;
    };
    const findBy = (name: 'uid' | 'userCode', value: string) =>
      [...records.values()].find(
        kept => kept.kind === kind && kept.record[name] === value && isLive(kept),
      )?.record;
    const keep = (id: string, kept: Kept) => {
      records.delete(keyOf(id));
      records.set(keyOf(id), kept);
      const [oldest] = records.keys();
      if (records.size > most && oldest !== undefined) records.delete(oldest);
    };
    return {
      upsert: async (id, record, seconds) =>
        keep(id, { kind, record, endsAt: now() + seconds * 1000 }),
      find: async id => find(id),
      findByUid: async uid => findBy('uid', uid),
      findByUserCode: async userCode => findBy('userCode', userCode),
      consume: async id => {
        const kept = records.get(keyOf(id));
        if (kept === undefined) return;
        keep(id, { ...kept, record: { ...kept.record, consumed: Math.floor(now() / 1000) } });
      },
      destroy: async id => void records.delete(keyOf(id)),
      revokeByGrantId: async grantId => {
        for (const [key, { record }] of records)
          if (record.grantId === grantId) records.delete(key);
      },
    };
  };
}
