import type * as z from 'zod';
import { filter } from './filter/filter.ts';
import { filterPolicy } from './filter-policy/filter-policy.ts';
import { host } from './host/host.ts';
import type { Kind } from './known-kinds.ts';
import { logService } from './log-service/log-service.ts';
import { mapping } from './mapping/mapping.ts';
import { module } from './module/module.ts';
import { proxyConfig } from './proxy-config/proxy-config.ts';
import { rateLimit } from './rate-limit/rate-limit.ts';
import { rateLimitService } from './rate-limit-service/rate-limit-service.ts';
import { secret } from './secret/secret.ts';
import { tlsContext } from './tls-context/tls-context.ts';
import { tracingService } from './tracing-service/tracing-service.ts';

/** The definition of every kind that is served. */
export const KINDS = {
  Filter: filter,
  FilterPolicy: filterPolicy,
  Host: host,
  LogService: logService,
  Mapping: mapping,
  Module: module,
  ProxyConfig: proxyConfig,
  RateLimit: rateLimit,
  RateLimitService: rateLimitService,
  Secret: secret,
  TLSContext: tlsContext,
  TracingService: tracingService,
} as const satisfies Readonly<Record<Kind, unknown>>;

export type SpecOf<K extends Kind> = z.output<(typeof KINDS)[K]['schema']>;
