import type { ImportedDocument } from './document.ts';
import type { PlacedRemark } from './remark.ts';

/** What files of others become, and what of them could not be taken over. */
export type Imported = {
  readonly documents: readonly ImportedDocument[];
  readonly remarks: readonly PlacedRemark[];
};

export function joinImported(parts: readonly Imported[]): Imported {
  return {
    documents: parts.flatMap(({ documents }) => documents),
    remarks: parts.flatMap(({ remarks }) => remarks),
  };
}
