import type { JsonObject } from '#protos/json.ts';
import { quoteRegex } from '../quote-regex.ts';

/**
 * Returns Envoy's `StringMatcher` of an origin as browsers write it. Envoy takes the exact origin
 * `*` for any. Elsewhere a wildcard stands for any number of labels.
 */
export function originMatcher(origin: string): JsonObject {
  if (origin === '*' || !origin.includes('*')) return { exact: origin };
  const [scheme = '', domain = ''] = origin.split('*');
  return { safe_regex: { regex: `${quoteRegex(scheme)}[a-z0-9._-]+${quoteRegex(domain)}` } };
}
