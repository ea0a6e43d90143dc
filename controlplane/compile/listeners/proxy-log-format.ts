import { LOG_TOKEN } from '#resources/format/log-format.ts';

/** Where the params of an operator hold the namespace of docs/reference/kinds/rate-limit.md. */
const NAMESPACE: ReadonlyMap<string | undefined, RegExp> = new Map([
  ['DYNAMIC_METADATA', /^proxy\.filters\.http\.ratelimit(?=:|$)/],
  ['METADATA', /(?<=^DYNAMIC:)proxy\.filters\.http\.ratelimit(?=:|$)/],
]);

/** Under this one Envoy writes what the rate limit service says, whatever the filter is called. */
const ENVOY_NAMESPACE = 'envoy.filters.http.ratelimit';

/**
 * The operator's log format as Envoy knows it: `%DYNAMIC_METADATA(proxy.filters.http.ratelimit…)%`,
 * also spelt `%METADATA(DYNAMIC:proxy.filters.http.ratelimit…)%` and as an operator of `COALESCE`,
 * refers to where Envoy keeps what the rate limit service says. Everything else stays as it is,
 * byte for byte. The format is one that parseLogFormat accepts.
 */
export function toEnvoyLogFormat(format: string): string {
  return format.replace(LOG_TOKEN, (token: string, name?: string, params = '') =>
    token.replace(`(${params})`, () => `(${toEnvoyParams(name, params)})`),
  );
}

function toEnvoyParams(name: string | undefined, params: string): string {
  if (name === 'COALESCE') return toEnvoyCoalesce(params);
  const namespace = NAMESPACE.get(name);
  return namespace === undefined ? params : params.replace(namespace, ENVOY_NAMESPACE);
}

type Coalesce = {
  readonly operators: readonly (string | { readonly command: string; readonly param?: string })[];
};

/** Where nothing is to be translated, it stays as it is written. */
function toEnvoyCoalesce(params: string): string {
  const written: Coalesce = JSON.parse(params);
  const operators = written.operators.map(operator => {
    if (typeof operator === 'string' || operator.param === undefined) return operator;
    return { ...operator, param: toEnvoyParams(operator.command, operator.param) };
  });
  const translated = JSON.stringify({ ...written, operators });
  return translated === JSON.stringify(written) ? params : translated;
}
