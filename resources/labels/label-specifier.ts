import * as z from 'zod';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { parseHeaderName } from '#resources/words/http-token.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import { quoteHint } from '#resources/words/quote-hint.ts';
import { isTargetLabel, targetLabelMistake } from './target-label.ts';

/**
 * One label of a group, as the operator specifies it. The compiler chooses the words on the wire
 * (descriptor entries).
 */
export type LabelSpecifier =
  | { readonly type: 'source_cluster' | 'destination_cluster' | 'remote_address' }
  | { readonly type: 'generic_key'; readonly value: string }
  | { readonly type: 'path'; readonly key: string }
  | { readonly type: 'request_header'; readonly key: string; readonly header: string };

/** Returns the key of a label, by which limits match it. */
export function keyOf(label: LabelSpecifier): string {
  return 'key' in label ? label.key : label.type;
}

const FORM =
  '`source_cluster`, `destination_cluster`, `remote_address`, a string, { generic_key: value }, { key: { header: name } } or { key: { path: true } }';

/**
 * Parses a label specifier (docs/reference/kinds/rate-limit.md): `source_cluster`,
 * `destination_cluster`, `remote_address`, any other string V for `{ generic_key: V }`, `{ K: {
 * header: H, omit_if_not_present: true } }`, or `{ K: { path: true } }`.
 */
function parseLabelSpecifier(input: unknown): Parsed<LabelSpecifier> {
  if (typeof input === 'string') return parseBare(input);
  if (!isFields(input)) return { error: `a label specifier must be ${FORM}${quoteHint(input)}` };
  const entries = Object.entries(input);
  const [entry] = entries;
  if (Object.hasOwn(input, 'v3Key'))
    return { error: `a fixed label has no key of its own: leave out \`v3Key\`. ${MATCHED}` };
  if (entry === undefined || entries.length > 1) {
    return { error: `a label specifier is ${FORM}, with one key, not ${entries.length}` };
  }
  const [key, value] = entry;
  if (key === '') return { error: 'a label needs a key that is not empty' };
  return key === 'generic_key' && !isFields(value)
    ? parseGenericKey(value)
    : parseRequestHeader(key, value);
}

function parseBare(text: string): Parsed<LabelSpecifier> {
  if (text === 'source_cluster' || text === 'destination_cluster' || text === 'remote_address') {
    return { value: { type: text } };
  }
  return parseGenericKey(text);
}

function parseGenericKey(value: unknown): Parsed<LabelSpecifier> {
  if (typeof value !== 'string') {
    return { error: `the value of \`generic_key\` must be a string${quoteHint(value)}` };
  }
  if (value === '') return { error: 'a label needs a value that is not empty' };
  if (isTargetLabel({ key: 'generic_key', value })) return { error: targetLabelMistake('give') };
  return { value: { type: 'generic_key', value } };
}

function parseRequestHeader(key: string, value: unknown): Parsed<LabelSpecifier> {
  if (!isFields(value))
    return { error: `the label "${key}" must be { header: name }${hintOf(key)}` };
  if (Object.hasOwn(value, 'path')) return parsePath(key, value);
  const { header, omit_if_not_present: omit, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    return { error: `the label "${key}" has an unknown field \`${unknown}\`${hintOf(key)}` };
  }
  // As elsewhere, null counts as a missing field.
  if ((omit ?? true) !== true) {
    return {
      error: `the label "${key}" must have \`omit_if_not_present: true\`: without its header the group is always left out`,
    };
  }
  if (typeof header !== 'string')
    return {
      error: `the label "${key}" needs \`header\`, the name of a request header${hintOf(key)}`,
    };
  const name = parseHeaderName(header);
  return 'error' in name ? name : { value: { type: 'request_header', key, header: name.value } };
}

function parsePath(key: string, { path, ...others }: Fields): Parsed<LabelSpecifier> {
  const [other] = Object.keys(others);
  if (path === true && other === undefined) return { value: { type: 'path', key } };
  return { error: `the label "${key}" must be { path: true } or { header: name }${hintOf(key)}` };
}

/** Where a pattern named the key of such a label, it matches no more. */
const MATCHED = 'Limits match it by `generic_key` in their `pattern`';

/** The gateway's words for what Ambassador's v3alpha1 has in maps. */
const OTHERWISE: ReadonlyMap<string, string> = new Map([
  ['source_cluster', 'the string source_cluster'],
  ['destination_cluster', 'the string destination_cluster'],
  ['remote_address', 'the string remote_address'],
  ['generic_key', `{ generic_key: value }. ${MATCHED}`],
  ['request_headers', '{ key: { header: name } }, with the key of the label'],
]);

function hintOf(key: string): string {
  const form = OTHERWISE.get(key);
  return form === undefined ? '' : `. Write ${form}`;
}

export const labelSpecifier = z
  .unknown()
  .meta({ form: FORM })
  .transform((input, context): LabelSpecifier => {
    const parsed = parseLabelSpecifier(input);
    if ('value' in parsed) return parsed.value;
    context.addIssue({ code: 'custom', message: parsed.error });
    return z.NEVER;
  });
