import { readFileSync } from 'node:fs';
import { renderTemplate } from '../render.ts';
import { parseTemplate, type TemplateUse } from '../template.ts';
import { datasets } from './datasets.ts';

/**
 * What Go's engine gave for a template: an output, an error of parsing (`refused`) or of
 * evaluating, or nothing at all.
 */
export type TemplateOutcome = {
  readonly out: string;
  readonly error?: string;
  readonly doNotSet?: boolean;
  readonly refused?: string;
};

/** A template with the name of its data, made by fixtures/make-fixtures.go. */
export type Fixture = TemplateOutcome & {
  readonly data: string;
  readonly use: TemplateUse;
  readonly text: string;
};

const DATA = datasets();
const FILE = new URL('../fixtures/fixtures.jsonl', import.meta.url);

/**
 * Reads the results of Go's own engine. After a change of cases.txt or datasets.go: `cd fixtures &&
 * go run . > fixtures.jsonl`.
 */
export function readFixtures(): readonly Fixture[] {
  const lines = readFileSync(FILE, 'utf8').trim().split('\n');
  return lines.map((line): Fixture => JSON.parse(line));
}

/** What our engine gives, in the same form. */
export function outcomeOf({
  data,
  use,
  text,
}: Pick<Fixture, 'data' | 'use' | 'text'>): TemplateOutcome {
  const parsed = parseTemplate(text, use);
  if ('error' in parsed) return { out: '', refused: parsed.error };
  const rendered = renderTemplate(parsed.value, DATA.get(data) ?? null);
  if ('error' in rendered) return withoutValues({ out: '', error: rendered.error });
  return 'doNotSet' in rendered ? { out: '', doNotSet: true } : { out: rendered.text };
}

/** Cuts the messages where Go shows a value of the data and we show its type. */
export function withoutValues(outcome: TemplateOutcome): TemplateOutcome {
  if (outcome.error === undefined) return outcome;
  const shown = /(range can't iterate over|can't use|non-comparable types?|non-function) .*$/s;
  return { ...outcome, error: outcome.error.replace(shown, '$1') };
}
