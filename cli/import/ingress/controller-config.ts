import { isFields } from '#resources/words/fields.ts';
import { closed, type PlacedRemark } from '../remark.ts';
import type { SourceObject } from '../source-object.ts';

/** What the ConfigMap of ingress-nginx demands of all requests. */
const RESTRICTING: readonly string[] = [
  'block-cidrs',
  'block-referers',
  'block-user-agents',
  'denylist-source-range',
  'global-auth-url',
  'whitelist-source-range',
];

const WHY =
  'it restricts all Ingresses, so that all are closed. Write the protection, and remove `closed` from the Mappings, or leave this ConfigMap out of the files';

/** Finds what a ConfigMap among the files demands of every request. */
export function controllerRestrictions(objects: readonly SourceObject[]): readonly PlacedRemark[] {
  return objects
    .filter(({ group, kind }) => group === '' && kind === 'ConfigMap')
    .flatMap(object => {
      const { data } = object.fields;
      const keys = isFields(data) ? Object.keys(data).filter(key => data[key] !== '') : [];
      return keys
        .filter(key => RESTRICTING.includes(key))
        .map(key => ({ ...closed(['data', key], WHY), object }));
    });
}
