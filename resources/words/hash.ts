import { createHash } from 'node:crypto';
import { SecretValue } from './secret-value.ts';

/**
 * Returns the SHA-256 of what a spec means. It is equal for equal values, whatever the order of
 * their keys. It covers the bytes of secrets, so it may only be compared in memory and must not be
 * shown.
 */
export function hashSpec(spec: unknown): string {
  return createHash('sha256').update(canonicalJson(spec)).digest('base64url');
}

/** Returns JSON without white space, with keys sorted, and without fields that have no value. */
function canonicalJson(value: unknown): string {
  if (value instanceof SecretValue)
    return JSON.stringify(Buffer.from(value.reveal()).toString('base64'));
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  const sorted = fields.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return `{${sorted.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(',')}}`;
}
