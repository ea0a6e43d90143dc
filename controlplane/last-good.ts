import { parseFile } from '#resources/parse.ts';
import type { ParseOptions } from '#resources/parse-options.ts';
import type { LastGood } from './last-good-store.ts';
import type { Resources } from './rollout.ts';

/** The accepted resources as they are kept: the documents as the operator wrote them, without Secrets. */
export function toLastGood(accepted: Resources): LastGood[] {
  return [...accepted.values()].flatMap(({ source, document }) =>
    document === undefined ? [] : [{ file: source.file, document }],
  );
}

/** Reads them again. What this version of the parser no longer accepts is left out. */
export function fromLastGood(kept: readonly LastGood[], options: ParseOptions): Resources {
  const resources = kept.flatMap(({ file, document }) => {
    return parseFile(file, JSON.stringify(document), options).resources;
  });
  return new Map(resources.map(resource => [resource.id, resource]));
}
