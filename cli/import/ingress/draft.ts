import type { Fields } from '#resources/words/fields.ts';
import type { Ingress } from './ingress.ts';

/** A Mapping that has no name yet. */
export type Draft = {
  /** Whose name and namespace it gets. */
  readonly ingress: Ingress;
  readonly host: string;
  readonly spec: Fields;
  /** What follows the number in its name. */
  readonly suffix?: string;
};

const MATCH_FIELDS = [
  'host',
  'prefix',
  'prefix_exact',
  'prefix_regex',
  'precedence',
  'headers',
  'regex_headers',
  'shadow',
  'weight',
] as const;

/** Returns a key. Drafts with one key match the same requests. */
export function draftKey({ spec }: Pick<Draft, 'spec'>): string {
  return JSON.stringify(MATCH_FIELDS.map(field => spec[field] ?? null));
}

/** Returns the fields in the order in which people read them: what matches comes first. */
export function inOrder(spec: Fields): Fields {
  const first = MATCH_FIELDS.filter(field => spec[field] !== undefined);
  return { ...Object.fromEntries(first.map(field => [field, spec[field]])), ...spec };
}

/** Returns the draft so that it answers 500. */
export function closeDraft(draft: Draft): Draft {
  return { ...draft, spec: { ...draft.spec, closed: true } };
}
