import { encodeAny } from '#protos/encode.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { xdsResource } from '#xds/snapshot.ts';

export const DOMAIN = 'bench';
/** In each window; more than is ever asked: the limits are counted, not reached. */
export const RATE = 4_000_000_000;

/**
 * A limit as the control plane sends it: on requests labelled `generic_key=limit-<i>` and any `n`,
 * each of which has a counter of its own.
 */
export function limitResource(i: number, unit = 'MINUTE') {
  const pattern = [
    { alternatives: [{ key: 'generic_key', value: `limit-${i}` }] },
    { alternatives: [{ key: 'n' }] },
  ];
  const limit = { name: `limit-${i}`, rate: RATE, unit, pattern };
  return xdsResource(
    `bench/limit-${i}`,
    encodeAny({ '@type': RATE_LIMIT, domain: DOMAIN, limits: [limit] }),
  );
}
