import type { JsonObject } from '#protos/json.ts';
import { setHeader } from '../header-option.ts';

/** Envoy's router reads it and removes it. Source: Envoy's page "Router". */
export const RETRY_ON_HEADER = 'x-envoy-retry-on';

/** Envoy makes a list for each request where an expression has one. */
const IS_SAFE = ['GET', 'HEAD', 'OPTIONS'].map(name => `request.method == '${name}'`).join(' || ');

/**
 * The header that makes Envoy's router also retry what was reset after it was sent, where the
 * method allows it (RFC 9110, section 9.2.1). A machine that vanishes takes the application proxy
 * with it, so that one cannot ask for it. An edge's table of routes sets it once, because Envoy
 * compiles the expression of each route that has one [measured]. A route may remove it.
 */
export const REPEAT_SAFE_METHODS: JsonObject = setHeader(
  RETRY_ON_HEADER,
  `%CEL(${IS_SAFE} ? 'reset' : '')%`,
);
