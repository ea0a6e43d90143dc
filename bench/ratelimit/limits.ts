import { encodeAny } from '#protos/encode.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { xdsResource } from '#xds/snapshot.ts';

export const DOMAIN = 'bench';
/** The rate in each window. It is never reached, so that the limits are only counted. */
export const RATE = 4_000_000_000;

/**
 * Returns a limit as the control plane sends it. It is on requests labelled `generic_key=limit-<i>`
 * and any `n`, and each n has a counter of its own.
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
