import type { Source } from '#resources/resource.ts';
import type { Fields } from '#resources/words/fields.ts';
import type { Language } from './parse-options.ts';
import { parseResource } from './parse-resource.ts';
import { EMPTY_FILE, type ParsedFile, placeParsed } from './parsed-file.ts';
import { placeOutcome } from './place-outcome.ts';

/**
 * Parses a document that is a value already. All of it is at `source`.
 * @throws RangeError when nesting exhausts the stack
 */
export function parseValue(
  document: Fields,
  { file, line }: Source,
  language: Language,
): ParsedFile {
  const outcome = parseResource(document, [], language);
  if (outcome === undefined) return { ...EMPTY_FILE, file };
  return placeParsed(
    placeOutcome(outcome, () => line),
    file,
    0,
  );
}
