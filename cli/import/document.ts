import { stringify } from 'yaml';
import type { Fields } from '#resources/words/fields.ts';
import type { SourceObject } from './source-object.ts';

/** A document that the import writes. */
export type ImportedDocument = {
  /** The object that it comes from. */
  readonly from: SourceObject;
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string } & Fields;
  readonly spec: Fields;
};

/** Our API group, which the documents of an import are of. */
export const GROUP = 'gateway.internal';

export const LONGEST_NAME = 253;

/** Makes a document of one of our kinds, in the namespace of the object that it comes from. */
export function ourDocument(
  kind: string,
  from: SourceObject,
  name: string,
  spec: Fields,
): ImportedDocument {
  return documentOf(`${GROUP}/v2`, kind, from, name, spec);
}

/** Makes a document of any kind, in the namespace of the object that it comes from. */
export function documentOf(
  apiVersion: string,
  kind: string,
  from: SourceObject,
  name: string,
  spec: Fields,
): ImportedDocument {
  const { namespace } = from;
  const metadata = {
    name: name.slice(0, LONGEST_NAME),
    ...(namespace === undefined ? {} : { namespace }),
  };
  return { from, apiVersion, kind, metadata, spec };
}

/** Writes documents as one YAML file. */
export function toYaml(documents: readonly ImportedDocument[]): string {
  return documents.map(writeDocument).join('---\n');
}

/** In YAML 1.1 an unquoted `y` is a boolean, and other tools read that. */
function writeDocument({ apiVersion, kind, metadata, spec }: ImportedDocument): string {
  const document = { apiVersion, kind, metadata, spec };
  return stringify(document, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
