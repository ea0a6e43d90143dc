import type { Fields } from '#resources/words/fields.ts';
import { MATCH_FIELDS } from '../match-fields.ts';
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

/** Two Mappings that differ in one of these do not stand in each other's way. */
const KEY_FIELDS = [...MATCH_FIELDS, 'shadow', 'weight'];

/** Returns a key. Drafts with one key match the same requests. */
export function draftKey({ spec }: Pick<Draft, 'spec'>): string {
  return JSON.stringify(KEY_FIELDS.map(field => spec[field] ?? null));
}

/** Returns the fields in the order in which people read them: what matches comes first. */
export function inOrder(spec: Fields): Fields {
  const first = KEY_FIELDS.filter(field => spec[field] !== undefined);
  return { ...Object.fromEntries(first.map(field => [field, spec[field]])), ...spec };
}

/** Returns the draft so that it answers 500. */
export function closeDraft(draft: Draft): Draft {
  return { ...draft, spec: { ...draft.spec, closed: true } };
}
