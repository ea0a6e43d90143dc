import { fieldsAt } from '../fields-at.ts';
import { closed, type PlacedRemark } from '../remark.ts';
import type { SourceObject } from '../source-object.ts';
import { isOff } from './access.ts';
import { isHarmless } from './snippets.ts';

/** What the ConfigMap of ingress-nginx, or that of F5's controller, demands of all requests. */
const RESTRICTING: readonly string[] = [
  'block-cidrs',
  'block-referers',
  'block-user-agents',
  'denylist-source-range',
  'enable-modsecurity',
  'global-auth-url',
  'http-snippet',
  'http-snippets',
  'location-snippet',
  'location-snippets',
  'server-snippet',
  'server-snippets',
  'whitelist-source-range',
];

/** Values with which it demands nothing. */
const OPEN: Readonly<Record<string, (text: string) => boolean>> = {
  'enable-modsecurity': isOff,
  'http-snippet': isHarmless,
  'http-snippets': isHarmless,
  'location-snippet': isHarmless,
  'location-snippets': isHarmless,
  'server-snippet': isHarmless,
  'server-snippets': isHarmless,
};

const WHY =
  'it restricts all Ingresses, so that all are closed. Write the protection, and remove `closed` from the Mappings, or leave this ConfigMap out of the files';

/** Finds what a ConfigMap among the files demands of every request. */
export function controllerRestrictions(objects: readonly SourceObject[]): readonly PlacedRemark[] {
  return objects
    .filter(({ group, kind }) => group === '' && kind === 'ConfigMap')
    .flatMap(object => {
      const values = fieldsAt(object.fields, 'data');
      return RESTRICTING.filter(key => {
        const text = String(values[key] ?? '');
        return text !== '' && !OPEN[key]?.(text);
      }).map(key => ({ ...closed(['data', key], WHY), object }));
    });
}
