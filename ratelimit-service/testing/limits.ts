import type { Message } from '#protos/decode-bytes.ts';
import { messageType } from '#protos/root.ts';
import type { Limit } from '../limit.ts';
import { parseLimits } from '../parse-limits.ts';

const RATE_LIMIT = 'gateway.config.v1.RateLimit';

/**
 * A limit as ProtoJSON writes it, with what every limit needs. Labels are written `key=value`,
 * alternatives with `|`, any value as `key`.
 */
export type LimitJson = { readonly pattern?: readonly string[]; readonly [field: string]: unknown };

/** Encodes a RateLimit resource, and decodes it as the service does. */
export function rateLimitMessage(
  domain: string,
  limits: readonly LimitJson[],
  meanings: object = {},
): Message {
  const type = messageType(RATE_LIMIT);
  const json = {
    domain,
    limits: limits.map((limit, index) => limitJson(limit, index)),
    ...meanings,
  };
  return type.decode(type.encode(type.fromObject(json)).finish()) as unknown as Message;
}

/**
 * Passes limits through the wire. They must be right. They are named `limit-0` and so on unless
 * named here.
 */
export function limitsOf(
  domain: string,
  limits: readonly LimitJson[],
  meanings: object = {},
): readonly Limit[] {
  const parsed = parseLimits(rateLimitMessage(domain, limits, meanings));
  if ('error' in parsed) throw new Error(parsed.error);
  return parsed.value;
}

/** Returns one limit of domain `d`. */
export function limitOf(json: LimitJson): Limit {
  const [limit] = limitsOf('d', [json]);
  if (limit === undefined) throw new Error('no limit');
  return limit;
}

/** Parses `key=value` as a label. */
export function label(text: string): { readonly key: string; readonly value: string } {
  const [key = '', ...value] = text.split('=');
  return { key, value: value.join('=') };
}

function limitJson({ pattern = [], ...rest }: LimitJson, index: number): object {
  const items = pattern.map(item => ({ alternatives: item.split('|').map(label) }));
  return { name: `limit-${index}`, rate: 1, unit: 'MINUTE', ...rest, pattern: items };
}
