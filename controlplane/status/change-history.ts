import type { Written } from '#controlplane/rollout/candidates.ts';
import { changedIds } from '#controlplane/rollout/changed-ids.ts';
import type { StreamInfo } from '#xds/discovery-observer.ts';

/** One edit of the resources, and what became of it. */
export type Change = {
  /** When it was read, ms since the epoch. */
  readonly at: number;
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** How many resources it is about. The lists name some of them. */
  readonly count: number;
  /** Clients that ACKed all of it, with the ms that it took. The lists name the first ones. */
  readonly acks: readonly { readonly node: string; readonly group: string; readonly ms: number }[];
  readonly ackCount: number;
  readonly nacks: readonly { readonly node: string; readonly message: string }[];
};

export type ChangeHistory = {
  written(written: Written): void;
  settled(stream: StreamInfo): void;
  nacked(stream: StreamInfo, message: string): void;
  /** The newest first. */
  changes(): readonly Change[];
};

const MOST_CHANGES = 20;
const MOST_NAMES = 20;
const MOST_ACKS = 50;
/** A client that connects later than this, in ms, did not wait for the change. */
const LATEST_ACK_MS = 600_000;
/** Clients whose ACK is counted. */
const MOST_COUNTED = 10_000;

const REJECTED = { hash: 'rejected' };

type Growing = Change & { acks: Change['acks']; ackCount: number; nacks: Change['nacks'] };

/** Remembers the newest changes, and who ACKed each. The first reading is no change. */
export function changeHistory(now: () => number): ChangeHistory {
  let known: ReadonlyMap<string, { readonly hash: string }> | undefined;
  const changes: Growing[] = [];
  const seen = new Set<number>();
  return {
    written({ resources, rejected }) {
      const before = known;
      const others = [...rejected.keys()].map(id => [id, before?.get(id) ?? REJECTED] as const);
      known = others.length === 0 ? resources : new Map([...resources, ...others]);
      if (before === undefined) return;
      const { added, changed, removed } = changedIds(before, known);
      const count = added.length + changed.length + removed.length;
      if (count === 0) return;
      seen.clear();
      changes.unshift({
        at: now(),
        added: added.slice(0, MOST_NAMES),
        changed: changed.slice(0, MOST_NAMES),
        removed: removed.slice(0, MOST_NAMES),
        ...{ count, acks: [], ackCount: 0, nacks: [] },
      });
      changes.splice(MOST_CHANGES);
    },
    settled({ id, node, group }) {
      const [latest] = changes;
      if (latest === undefined || seen.has(id) || seen.size >= MOST_COUNTED) return;
      if (now() - latest.at > LATEST_ACK_MS) return;
      seen.add(id);
      latest.ackCount += 1;
      if (latest.acks.length < MOST_ACKS)
        latest.acks = [...latest.acks, { node, group, ms: now() - latest.at }];
    },
    nacked({ node }, message) {
      const [latest] = changes;
      if (latest === undefined || latest.nacks.length >= MOST_ACKS) return;
      latest.nacks = [...latest.nacks.filter(nack => nack.node !== node), { node, message }];
    },
    changes: () => changes,
  };
}
