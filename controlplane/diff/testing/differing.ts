import { collect } from '#resources/parse/collect.ts';
import { createParser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { compileOptions } from '../../../cli/built-in-addresses.ts';
import { diff } from '../diff.ts';
import type { Difference } from '../difference.ts';
import type { Given } from '../with-documents.ts';

const NOW = Date.UTC(2026, 0, 1);

/** Returns what the text `after` changes where the text `before` is in force. */
export function differing(
  before: string,
  after: string,
  given: Partial<Given> = { whole: true },
): Difference {
  const { resources, rejected, problems } = collect(parsed('old.yaml', before));
  return diff({
    inForce: { resources, closed: [...rejected.values()] },
    given: { files: parsed('new.yaml', after), whole: false, remove: [], ...given },
    known: problems,
    options: compileOptions({}),
    now: NOW,
    envoy: true,
  });
}

function parsed(file: string, text: string) {
  return createParser(DEFAULT_PARSE_OPTIONS)(new Map([[file, { text }]]));
}
