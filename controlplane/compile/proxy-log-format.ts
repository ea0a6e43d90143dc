import { LOG_TOKEN } from '#resources/log-format.ts';

/** The namespace of document 2 ("Events"). */
const NAMESPACE = /^proxy\.filters\.http\.ratelimit(?=:|$)/;

/** Under this one Envoy writes what the rate limit service says, whatever the filter is called. */
const ENVOY_NAMESPACE = 'envoy.filters.http.ratelimit';

/**
 * The operator's log format as Envoy knows it: `%DYNAMIC_METADATA(proxy.filters.http.ratelimit…)%` refers to where Envoy keeps
 * what the rate limit service says. Everything else stays as it is, byte for byte.
 */
export function toEnvoyLogFormat(format: string): string {
  return format.replace(LOG_TOKEN, (token: string, name?: string, params = '') => {
    if (name !== 'DYNAMIC_METADATA') return token;
    return token.replace(`(${params})`, () => `(${params.replace(NAMESPACE, ENVOY_NAMESPACE)})`);
  });
}
