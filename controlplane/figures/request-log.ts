import { FAILURE_FLAGS } from '#controlplane/compile/listeners/sampled-requests-log.ts';
import { MAX_FAILURES, MAX_SAMPLES } from './bounds.ts';
import type { RequestFilter, SampledRequest } from './figures.ts';
import { KEPT_MS } from './traffic.ts';

const DEFAULT_LIMIT = 100;

/** The newest sampled requests. Failed ones are kept apart, so that no success displaces them. */
export class RequestLog {
  #successes = new Newest<SampledRequest>(MAX_SAMPLES);
  #failures = new Newest<SampledRequest>(MAX_FAILURES);
  #lastId = 0;

  add(request: Omit<SampledRequest, 'id'>): void {
    this.#lastId += 1;
    const kept = isFailure(request) ? this.#failures : this.#successes;
    kept.add({ id: this.#lastId, ...request });
  }

  /** No id is given again. */
  clear(): void {
    this.#successes = new Newest(MAX_SAMPLES);
    this.#failures = new Newest(MAX_FAILURES);
  }

  /** Returns what passes the filter, newest first. */
  list(filter: RequestFilter, now: number): readonly SampledRequest[] {
    const { after = 0, limit = DEFAULT_LIMIT } = filter;
    const found: SampledRequest[] = [];
    for (const request of merged(this.#successes.newestFirst(), this.#failures.newestFirst())) {
      if (request.id <= after || found.length >= limit) break;
      if (request.at > now - KEPT_MS && passes(request, filter)) found.push(request);
    }
    return found;
  }

  *all(): Iterable<SampledRequest> {
    yield* this.#successes.newestFirst();
    yield* this.#failures.newestFirst();
  }
}

const FAILED: ReadonlySet<string> = new Set(FAILURE_FLAGS);

/** Returns whether proxies log each such request, and not a share of them. */
export function isFailure({ status, flags }: Pick<SampledRequest, 'status' | 'flags'>): boolean {
  return status >= 500 || flags.some(flag => FAILED.has(flag));
}

function passes(request: SampledRequest, filter: RequestFilter): boolean {
  const { status, mapping, client, group } = filter;
  return (
    (status === undefined ||
      request.status === status ||
      Math.floor(request.status / 100) === status) &&
    (mapping === undefined || request.route === mapping) &&
    (client === undefined || request.client === client) &&
    (group === undefined || request.group === group)
  );
}

/** Merges two lists that are newest first. */
function* merged(
  a: Iterator<SampledRequest>,
  b: Iterator<SampledRequest>,
): Generator<SampledRequest> {
  let [left, right] = [a.next(), b.next()];
  while (!left.done || !right.done) {
    const takeLeft = right.done || (!left.done && left.value.id > right.value.id);
    yield takeLeft ? left.value : right.value;
    if (takeLeft) left = a.next();
    else right = b.next();
  }
}

/** A list that forgets its oldest items. */
class Newest<Item> {
  readonly #most: number;
  readonly #items: Item[] = [];
  #next = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(item: Item): void {
    this.#items[this.#next] = item;
    this.#next = (this.#next + 1) % this.#most;
  }

  *newestFirst(): Generator<Item> {
    const { length } = this.#items;
    for (let back = 1; back <= length; back++) {
      const item = this.#items[(this.#next - back + length) % length];
      if (item !== undefined) yield item;
    }
  }
}
