import type { Fields } from '#resources/words/fields.ts';
import type { Remark } from './remark.ts';

/** What a part of an object becomes: fields of our resource, and what they cannot express. */
export type Part = { readonly fields: Fields; readonly remarks: readonly Remark[] };

export const NOTHING: Part = { fields: {}, remarks: [] };

export function fieldsOnly(fields: Fields): Part {
  return { fields, remarks: [] };
}

export function remarksOnly(...remarks: readonly Remark[]): Part {
  return { fields: {}, remarks };
}

/** Joins parts. Of a field that several have, the last one counts. */
export function joinParts(parts: readonly Part[]): Part {
  return {
    fields: Object.assign({}, ...parts.map(({ fields }) => fields)),
    remarks: parts.flatMap(({ remarks }) => remarks),
  };
}
