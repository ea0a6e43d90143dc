import { type ImportedDocument, ourDocument } from '../document.ts';
import { changed, dropped, type Remark } from '../remark.ts';
import { annotationPath } from './annotations.ts';
import type { Ingress } from './ingress.ts';
import { numberOf } from './traffic.ts';

/** The limits of an Ingress: labels for its Mappings, and the RateLimit that counts them. */
export type Limits = {
  readonly labels: object;
  readonly documents: readonly ImportedDocument[];
  readonly remarks: readonly Remark[];
};

const DOMAIN = 'gateway';

const UNITS: Readonly<Record<string, string>> = { 'limit-rps': 'second', 'limit-rpm': 'minute' };

/** ingress-nginx counts the requests of an address to all paths of an Ingress together. */
export function limitsOf({ annotations, object }: Ingress): Limits {
  const { name, namespace } = object;
  const found = Object.entries(UNITS).flatMap(([annotation, unit]) => {
    const rate = numberOf(annotations.get(annotation));
    return rate === undefined || rate === 0 ? [] : [{ annotation, unit, rate }];
  });
  const keyOf = (unit: string) => `${namespace ?? 'default'}/${name} each ${unit}`;
  const labels = found.map(({ unit }) => ({
    [`each-${unit}`]: [keyOf(unit), 'remote_address'],
  }));
  const limits = found.map(({ rate, unit }) => ({
    pattern: [{ generic_key: keyOf(unit) }, { remote_address: '*' }],
    rate,
    unit,
  }));
  return {
    labels: found.length === 0 ? {} : { labels: { [DOMAIN]: labels } },
    documents:
      found.length === 0
        ? []
        : [ourDocument('RateLimit', object, name, { domain: DOMAIN, limits })],
    remarks: [
      ...found.map(({ annotation, rate, unit }) =>
        changed(
          annotationPath(annotation),
          `${rate} requests pass in each ${unit} of the clock, without a burst beyond, and the answer is 429. All edges count together. Raise \`rate\` of the RateLimit if clients come in bursts`,
        ),
      ),
      ...LOST.filter(([annotation]) => annotations.get(annotation) !== undefined).map(
        ([annotation, why]) => dropped(annotationPath(annotation), why),
      ),
    ],
  };
}

const LOST: readonly (readonly [annotation: string, why: string])[] = [
  ['limit-burst-multiplier', 'a limit has no burst. Raise `rate` of the RateLimit'],
  ['limit-whitelist', 'these addresses are limited too. Write a limit of their own for each'],
  [
    'limit-connections',
    'connections of a client are not counted. Bound those to the service by `circuit_breakers`',
  ],
  ['limit-rate', 'answers have no bound of speed'],
  ['limit-rate-after', 'answers have no bound of speed'],
  ['global-rate-limit', 'write `labels` into the Mapping, and a RateLimit'],
];
