import { type FieldPath, formatPath } from '#resources/finding.ts';
import type { FilterSpec } from '#resources/kinds/filter/filter.ts';
import { closedSelector } from '#resources/kinds/host/host-selector.ts';
import { isAmbientKind } from '#resources/kinds/known-kinds.ts';
import type { Problem } from '#resources/problem.ts';
import { type Resource, resourceId } from '#resources/resource.ts';
import { hashSpec } from '#resources/words/hash.ts';
import { fieldLines } from './field-lines.ts';
import type { ParseOutcome } from './parse-resource.ts';
import { EMPTY_FILE, type ParsedFile } from './parsed-file.ts';

/** Messages show what was written, which may be megabytes. */
const LONGEST_TEXT = 1_000;

/** Adds lines to an outcome. `lineOf` returns the line of a field. */
export function placeOutcome(
  outcome: ParseOutcome,
  lineOf: (path: FieldPath) => number,
): ParsedFile {
  const { kind, namespace, name, findings, spec, salvaged, document } = outcome;
  const unserved = outcome.unserved.length === 0 ? {} : { unserved: outcome.unserved };
  const head = { kind, namespace, name };
  const problems = findings.map(({ severity, path, message }): Problem => {
    const place = { ...head, file: '', line: lineOf(path) };
    const field = path.length === 0 ? {} : { field: shorten(formatPath(path)) };
    return { severity, ...place, ...field, message: shorten(message) };
  });
  const identity = {
    ...head,
    id: resourceId(kind, namespace, name),
    source: { file: '', line: lineOf([]) },
  };
  if (spec === undefined && isAmbientKind(kind)) return { ...EMPTY_FILE, problems };
  if (spec === undefined) {
    const { created, labels } = outcome.facts ?? {};
    const chosenBy = kind === 'Mapping' && labels !== undefined ? { labels } : {};
    const chooses = kind === 'Host' ? closedSelector(salvaged, outcome) : {};
    const age = salvaged.route !== undefined && created !== undefined ? { created } : {};
    const found = { ...salvaged, ...chosenBy, ...chooses, ...age, ...unserved };
    const rejected = kind === '' ? [] : [{ ...identity, ...found }];
    return { ...EMPTY_FILE, rejected, problems, anonymous: kind === '' || name === '' };
  }
  const lines = fieldLines(document, lineOf);
  const { facts = {}, limitsAt, partial } = outcome;
  const part = partial === true ? { partial, limitsAt } : {};
  const metadata = Object.keys(facts).length === 0 ? {} : { metadata: facts };
  // The spec was parsed by the schema of this very kind.
  const resource = {
    ...identity,
    hash: hashSpec(isBare(outcome) ? spec : { spec, ...part, ...unserved, ...metadata }),
    spec,
    ...part,
    ...metadata,
    ...(lines === '' ? {} : { fieldLines: lines }),
    ...unserved,
    ...(holdsSecret(kind, spec) ? {} : { document }),
  } as Resource;
  return { ...EMPTY_FILE, resources: [resource], problems };
}

/** Whether its spec is all that counts. */
function isBare({ unserved, partial, facts = {} }: ParseOutcome): boolean {
  return unserved.length === 0 && partial !== true && Object.keys(facts).length === 0;
}

/** Leaves out its middle, because what is wrong stands at the end. */
function shorten(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  return `${text.slice(0, LONGEST_TEXT / 2)}…${text.slice(-LONGEST_TEXT / 2)}`.toWellFormed();
}

/** A Secret, and a Filter with the secret written in it. Their documents are not kept. */
function holdsSecret(kind: string, spec: unknown): boolean {
  if (kind === 'Secret') return true;
  return kind === 'Filter' && (spec as FilterSpec).OAuth2?.secret !== undefined;
}
