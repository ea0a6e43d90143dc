import type { CounterStore, Counts, Hit } from '../counter-store.ts';
import type { RateLimitRequest } from '../request.ts';
import { label } from './limits.ts';

/**
 * Returns a request of domain `d`. Each group is written `key=value key=value`, with its own hits
 * after `+`, such as `key=value +3`.
 */
export function requestOf(groups: readonly string[], hits = 0): RateLimitRequest {
  return { domain: 'd', descriptors: groups.map(descriptor), hits_addend: hits };
}

function descriptor(text: string): RateLimitRequest['descriptors'][number] {
  const words = text.split(' ').filter(word => word !== '');
  const entries = words.filter(word => !word.startsWith('+')).map(label);
  const hits = words.find(word => word.startsWith('+'));
  return hits === undefined ? { entries } : { entries, hits_addend: { value: Number(hits) } };
}

/**
 * Counters in a Map, at a time that the test sets. `calls` are the hits of each call. It answers
 * without a promise.
 */
export type MapStore = CounterStore & { now: number; readonly calls: (readonly Hit[])[] };

export function mapStore(now = 0): MapStore {
  const counters = new Map<string, number>();
  const calls: (readonly Hit[])[] = [];
  return {
    now,
    calls,
    count(hits): Counts {
      calls.push(hits);
      return { now: this.now, counts: hits.map(hit => add(counters, hit, this.now)) };
    },
    reset: async () => {},
    status: () => ({ waiting: 0 }),
    close: async () => {},
  };
}

function add(
  counters: Map<string, number>,
  { counter, group, windowMs, add }: Hit,
  now: number,
): number {
  const name = `${windowMs} ${Math.floor(now / windowMs)} ${counter}${group}`;
  const count = (counters.get(name) ?? 0) + add;
  counters.set(name, count);
  return count;
}
