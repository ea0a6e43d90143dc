import type * as z from 'zod';
import { filter } from './filter.ts';
import { filterPolicy } from './filter-policy.ts';
import { mapping } from './mapping.ts';
import { module } from './module.ts';
import { proxyConfig } from './proxy-config.ts';
import { rateLimit } from './rate-limit.ts';
import { rateLimitService } from './rate-limit-service.ts';
import { secret } from './secret.ts';

/** Every kind that is served. */
export const KINDS = {
  Filter: filter,
  FilterPolicy: filterPolicy,
  Mapping: mapping,
  Module: module,
  ProxyConfig: proxyConfig,
  RateLimit: rateLimit,
  RateLimitService: rateLimitService,
  Secret: secret,
} as const;

export type Kind = keyof typeof KINDS;
export type SpecOf<K extends Kind> = z.output<(typeof KINDS)[K]['schema']>;

export function isKind(kind: string): kind is Kind {
  return Object.hasOwn(KINDS, kind);
}
