import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import type { ParsedFile } from '#resources/parse/parsed-file.ts';
import type { Problem } from '../problem.ts';

export function parseText(text: string): ParsedFile {
  return parseFile('r.yaml', text, DEFAULT_PARSE_OPTIONS);
}

/** One line a Problem: `12 error spec.prefix: message`. */
export function problemLines({
  problems,
}: {
  readonly problems: readonly Problem[];
}): readonly string[] {
  return problems.map(
    ({ line, severity, field = '', message }) => `${line} ${severity} ${field}: ${message}`,
  );
}

/** A document of one of our kinds, whose spec is given as a JavaScript value. */
export function documentOf(kind: string, spec: unknown, name = 'x'): string {
  return JSON.stringify({ apiVersion: 'gateway.internal/v2', kind, metadata: { name }, spec });
}

/** The Problems of one resource, without lines: `error spec.prefix: message`. */
export function problemsOf(kind: string, spec: unknown, name?: string): readonly string[] {
  return problemLines(parseText(documentOf(kind, spec, name))).map(line =>
    line.replace(/^\d+ /, ''),
  );
}
