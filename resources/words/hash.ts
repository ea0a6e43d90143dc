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
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  if (value instanceof SecretValue)
    return JSON.stringify(Buffer.from(value.reveal()).toString('base64'));
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const fields = value as Readonly<Record<string, unknown>>;
  let text = '';
  // Every resource is hashed. Lists of pairs would take most of the time.
  for (const key of Object.keys(fields).sort()) {
    const field = fields[key];
    if (field === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(field)}`;
  }
  return `{${text}}`;
}
