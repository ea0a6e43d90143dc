/** What the OpenID provider keeps, in memory and without bound: its own adapter forgets beyond 1,000 records. */
export function memoryAdapter(): (kind: string) => object {
  const records = new Map<string, Stored>();
  return kind => {
    const key = (id: string) => `${kind} ${id}`;
    const findBy = (name: 'uid' | 'userCode', value: string) =>
      [...records].find(([id, record]) => id.startsWith(`${kind} `) && record[name] === value)?.[1];
    return {
      upsert: async (id: string, record: Stored) => void records.set(key(id), record),
      find: async (id: string) => records.get(key(id)),
      findByUid: async (uid: string) => findBy('uid', uid),
      findByUserCode: async (code: string) => findBy('userCode', code),
      consume: async (id: string) => {
        const record = records.get(key(id));
        if (record !== undefined)
          records.set(key(id), { ...record, consumed: Math.floor(Date.now() / 1_000) });
      },
      destroy: async (id: string) => void records.delete(key(id)),
      revokeByGrantId: async (grantId: string) => {
        for (const [id, record] of records) if (record.grantId === grantId) records.delete(id);
      },
    };
  };
}

type Stored = {
  readonly uid?: string;
  readonly userCode?: string;
  readonly grantId?: string;
  readonly consumed?: number;
};
