import { LOG_TOKEN } from '#resources/format/log-operator.ts';

const NAMESPACE: ReadonlyMap<string | undefined, RegExp> = new Map([
  ['DYNAMIC_METADATA', namespaceBehind('')],
  ['METADATA', namespaceBehind('DYNAMIC:')],
]);

/**
 * Finds the namespace of docs/reference/kinds/rate-limit.md in the params of an operator, or
 * Envoy's, with what Ambassador's keys there begin with.
 */
function namespaceBehind(start: string): RegExp {
  return new RegExp(
    String.raw`(?<=^${start})(?:envoy|proxy)\.filters\.http\.ratelimit(?=:|$)(:aes(?=\.ratelimit\.))?`,
  );
}

/** Envoy writes what the rate limit service says under this one, whatever the filter's name is. */
export const ENVOY_NAMESPACE = 'envoy.filters.http.ratelimit';

/**
 * Translates the operator's format of a log or header to Envoy's.
 * `%DYNAMIC_METADATA(proxy.filters.http.ratelimit…)%` gets Envoy's place for what the rate limit
 * service says. So does its spelling `%METADATA(DYNAMIC:proxy.filters.http.ratelimit…)%`, and an
 * operator of `COALESCE`. Ambassador's keys there, `aes.ratelimit.…`, get ours. `UPSTREAM_CLUSTER`
 * is the cluster's own name, and not that of its statistics. Everything else stays as it is, byte
 * for byte. The format is one that parseLogFormat accepts.
 */
export function toEnvoyLogFormat(format: string): string {
  return format.replace(LOG_TOKEN, (token: string, name?: string, params = '') =>
    token
      .replace(/^%UPSTREAM_CLUSTER(?=[:%])/, `%${toEnvoyName('UPSTREAM_CLUSTER')}`)
      .replace(`(${params})`, () => `(${toEnvoyParams(name, params)})`),
  );
}

function toEnvoyName(name: string): string {
  return name === 'UPSTREAM_CLUSTER' ? 'UPSTREAM_CLUSTER_RAW' : name;
}

function toEnvoyParams(name: string | undefined, params: string): string {
  if (name === 'COALESCE') return toEnvoyCoalesce(params);
  const namespace = NAMESPACE.get(name);
  if (namespace === undefined) return params;
  return params.replace(
    namespace,
    (_, ambassadors?: string) => `${ENVOY_NAMESPACE}${ambassadors === undefined ? '' : ':gw'}`,
  );
}

type Coalesce = {
  readonly operators: readonly (string | { readonly command: string; readonly param?: string })[];
};

/** Without anything to translate, the text stays as it is. */
function toEnvoyCoalesce(params: string): string {
  const written: Coalesce = JSON.parse(params);
  const operators = written.operators.map(operator => {
    if (typeof operator === 'string') return toEnvoyName(operator);
    const command = toEnvoyName(operator.command);
    const { param } = operator;
    return {
      ...operator,
      command,
      ...(param === undefined ? {} : { param: toEnvoyParams(command, param) }),
    };
  });
  const translated = JSON.stringify({ ...written, operators });
  return translated === JSON.stringify(written) ? params : translated;
}
