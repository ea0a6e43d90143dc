import type { Message } from '#protos/decode-bytes.ts';
import { decodeBytes } from '#protos/decode-bytes.ts';
import { findType } from '#protos/root.ts';
import { nameInTypeUrl, RATE_LIMIT } from '#protos/type-url.ts';
import { resourceId } from '#resources/resource.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import type { Update } from '#xds/client-subscription.ts';
import type { XdsResource } from '#xds/snapshot.ts';
import type { CounterOwner, CounterOwners } from './counter-owner.ts';
import type { Limit } from './limit.ts';
import { compileLimits, type LimitIndex } from './limits-index.ts';
import { parseLimits } from './parse-limits.ts';

/** Limits ready to decide with. */
export type Compiled = {
  readonly index: LimitIndex;
  /** In the order of their resources' names, which is the same in all replicas. */
  readonly limits: readonly Limit[];
  readonly owners: CounterOwners;
};

/** The limits in force, by the name of the resource that they came in. */
export class LimitSet {
  readonly #byResource = new Map<string, readonly Limit[]>();

  /**
   * Applies a change as a whole, or rejects it as a whole with an error that names the resource.
   * After an error nothing has changed. A part of a large change gives no limits. The earlier
   * limits stay in force until its last part.
   */
  update({
    changed,
    removed,
    complete,
  }: Pick<Update, 'changed' | 'removed' | 'complete'>): Parsed<Compiled | undefined> {
    const parsed = changed.map(resource => [resource.name, parseResource(resource)] as const);
    for (const [name, limits] of parsed) {
      if ('error' in limits) return { error: `RateLimit ${name}: ${limits.error}` };
    }
    for (const [name, limits] of parsed)
      if ('value' in limits) this.#byResource.set(name, limits.value);
    for (const name of removed) this.#byResource.delete(name);
    if (!complete) return { value: undefined };
    const limits = [...this.#byResource].sort(byName).flatMap(([, limits]) => limits);
    return { value: { index: compileLimits(limits), limits, owners: ownersOf(this.#byResource) } };
  }
}

function ownersOf(byResource: ReadonlyMap<string, readonly Limit[]>): CounterOwners {
  const owners = new Map<string, CounterOwner>();
  for (const [name, limits] of [...byResource].sort(byName)) {
    const [namespace = '', own = ''] = name.split('/');
    const resource = resourceId('RateLimit', namespace, own);
    for (const { counter, name: limit } of limits)
      if (!owners.has(counter)) owners.set(counter, { limit, resource });
  }
  return owners;
}

function parseResource({ any }: XdsResource): Parsed<readonly Limit[]> {
  const type = findType(nameInTypeUrl(any.type_url) ?? '');
  if (type === undefined || any.type_url !== RATE_LIMIT)
    return { error: `no limits but ${any.type_url}` };
  try {
    return parseLimits(decodeBytes(type, any.value) as Message);
  } catch (error) {
    return { error: `it cannot be decoded: ${error instanceof Error ? error.message : error}` };
  }
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : Number(a > b);
}
