import type { Parser } from '#resources/parse/parse.ts';
import type { Resource, ResourcesById } from '#resources/resource.ts';
import { isFields } from '#resources/words/fields.ts';
import type { LastGood } from './last-good-store.ts';

/** Returns the accepted resources as they are stored: the operator's documents, without Secrets. */
export function toLastGood(accepted: ResourcesById): LastGood[] {
  return [...accepted.values()].flatMap(({ source: { file, line }, document }) =>
    document === undefined ? [] : [{ file, line, document }],
  );
}

/** Parses stored documents. It leaves out what this version of the parser no longer accepts. */
export function fromLastGood(kept: readonly LastGood[], parser: Parser): ResourcesById {
  const resources = kept.flatMap(item => parseKept(item, parser));
  return new Map(resources.map(resource => [resource.id, resource]));
}

function parseKept({ document, file, line = 1 }: LastGood, parser: Parser): readonly Resource[] {
  if (!isFields(document)) return [];
  try {
    return parser.value(document, { file, line }).resources;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [];
  }
}
