import type * as z from 'zod';
import { filter } from './filter.ts';
import { filterPolicy } from './filter-policy.ts';
import { host } from './host-kind.ts';
import { mapping } from './mapping.ts';
import { module } from './module.ts';
import { proxyConfig } from './proxy-config.ts';
import { rateLimit } from './rate-limit.ts';
import { rateLimitService } from './rate-limit-service.ts';
import { secret } from './secret.ts';
import { tlsContext } from './tls-context.ts';

/** Every kind that is served. */
export const KINDS = {
  Filter: filter,
  FilterPolicy: filterPolicy,
  Host: host,
  Mapping: mapping,
  Module: module,
  ProxyConfig: proxyConfig,
  RateLimit: rateLimit,
  RateLimitService: rateLimitService,
  Secret: secret,
  TLSContext: tlsContext,
} as const;

export type Kind = keyof typeof KINDS;
export type SpecOf<K extends Kind> = z.output<(typeof KINDS)[K]['schema']>;

export function isKind(kind: string): kind is Kind {
  return Object.hasOwn(KINDS, kind);
}
