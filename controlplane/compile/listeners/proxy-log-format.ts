import { LOG_TOKEN } from '#resources/log-format.ts';

/** Where the params of an operator hold the namespace of document 2 ("Events"). */
const NAMESPACE: ReadonlyMap<string | undefined, RegExp> = new Map([
  ['DYNAMIC_METADATA', /^proxy\.filters\.http\.ratelimit(?=:|$)/],
  ['METADATA', /(?<=^DYNAMIC:)proxy\.filters\.http\.ratelimit(?=:|$)/],
]);

/** Under this one Envoy writes what the rate limit service says, whatever the filter is called. */
const ENVOY_NAMESPACE = 'envoy.filters.http.ratelimit';

/**
 * The operator's log format as Envoy knows it: `%DYNAMIC_METADATA(proxy.filters.http.ratelimit…)%`, also spelt
 * `%METADATA(DYNAMIC:proxy.filters.http.ratelimit…)%`, refers to where Envoy keeps what the rate limit service says. Everything else stays as it is, byte for byte.
 */
export function toEnvoyLogFormat(format: string): string {
  return format.replace(LOG_TOKEN, (token: string, name?: string, params = '') => {
    const namespace = NAMESPACE.get(name);
    if (namespace === undefined) return token;
    return token.replace(`(${params})`, () => `(${params.replace(namespace, ENVOY_NAMESPACE)})`);
  });
}
