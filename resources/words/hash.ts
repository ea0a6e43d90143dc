import { hash } from 'node:crypto';
import { SecretValue } from './secret-value.ts';

/**
 * Returns the SHA-256 of what a spec means. It is equal for equal values, whatever the order of
 * their keys. It covers the bytes of secrets, so it may only be compared in memory and must not be
 * shown.
 */
export function hashSpec(spec: unknown): string {
  return hash('sha256', canonicalJson(spec), 'base64url');
}

/** Returns JSON without white space, with keys sorted, and without fields that have no value. */
function canonicalJson(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  if (value instanceof SecretValue)
    return JSON.stringify(Buffer.from(value.reveal()).toString('base64'));
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const fields = value as Readonly<Record<string, unknown>>;
  let text = '';
  // Every resource is hashed. Lists of pairs would take most of the time.
  for (const { key, label } of labelsOf(Object.keys(fields))) {
    const field = fields[key];
    if (field !== undefined) text += `${text === '' ? '' : ','}${label}${canonicalJson(field)}`;
  }
  return `{${text}}`;
}

/** A key, and its JSON with a colon. */
type Label = { readonly key: string; readonly label: string };

/** Objects with more keys are specs. Those of one kind have the same keys in the same order. */
const FEW_KEYS = 16;

let last: { readonly keys: readonly string[]; readonly labels: readonly Label[] } = {
  keys: [],
  labels: [],
};

/** Returns the labels of keys, sorted. To sort those of each spec would take a third of a hash. */
function labelsOf(keys: readonly string[]): readonly Label[] {
  if (keys.length === last.keys.length && keys.every((key, index) => key === last.keys[index]))
    return last.labels;
  const labels = keys.toSorted().map(key => ({ key, label: `${JSON.stringify(key)}:` }));
  if (keys.length > FEW_KEYS) last = { keys, labels };
  return labels;
}
