import { type Document, isMap, Scalar } from 'yaml';
import { hole, inside, json } from './holes.ts';
import { imageExpression } from './images.ts';
import type { Kustomization } from './kustomization.ts';
import { addLine, CONTAINER, listAt, mapAt, setLine } from './nodes.ts';
import { keyOf } from './pods.ts';
import { type Define, isOn, NAMES, OBJECTS, pattern, TEXTS } from './values.ts';

/** With Gateway API each Gateway has proxies of its own. */
export const OWN_EDGES = '$.Values.gatewayApi.edges "own"';

/** Returns the namespaces that a part reads, as lists of names. */
export const NAMESPACES = {
  resources: withFurther('$.Values.resources.namespace', '$.Values.resources.namespaces'),
  instances: withFurther('$.Release.Namespace', '$.Values.instances.namespaces'),
} as const;

/**
 * Makes what differs by installation in the variables of a Deployment into values. The
 * kustomization of Gateway API has further variables, and other values.
 */
export function editVariables(document: Document, gatewayApi: Kustomization, define: Define): void {
  const service = String(document.getIn(['metadata', 'name']));
  const list = listAt(document, ...CONTAINER, 'env');
  const given = new Map<string, string>();
  for (const item of list.items)
    if (isMap(item)) given.set(String(item.get('name')), String(item.get('value')));
  const expressions = expressionsOf(service, given, define);
  const names = new Set(given.keys());
  for (const { name, value } of gatewayApi.variables.get(service) ?? []) {
    names.add(name);
    const known = expressions.get(name);
    if (known !== undefined)
      expressions.set(
        name,
        `ternary (${known}) ${JSON.stringify(value)} (empty $.Values.gatewayApi.enabled)`,
      );
    else
      addVariable(name, JSON.stringify(value), `and $.Values.gatewayApi.enabled (eq ${OWN_EDGES})`);
  }
  if (service === 'controlplane') {
    const envoy = imageExpression('envoyproxy/envoy');
    addVariable('EDGE_IMAGE', envoy, '$.Values.gatewayApi.enabled');
    const secrets = 'include "tollwright.pullSecrets" $.Values.imagePullSecrets';
    addVariable(
      'EDGE_PULL_SECRETS',
      secrets,
      'and $.Values.gatewayApi.enabled $.Values.imagePullSecrets',
    );
    addVariable(
      'EDGE_FIXED_USER',
      '"false"',
      `and $.Values.gatewayApi.enabled (not (${isOn('fixedUsers')}))`,
    );
    addVariable('GATEWAY_EDGES', '"shared"', `and $.Values.gatewayApi.enabled (ne ${OWN_EDGES})`);
  }
  for (const item of list.items) {
    const text = isMap(item) ? expressions.get(String(item.get('name'))) : undefined;
    if (isMap(item) && text !== undefined) item.set('value', json(text));
  }
  addFurther(document, names, define);

  function addVariable(name: string, text: string, condition: string): void {
    names.add(name);
    addLine(list, inside(`if ${condition}`, variable(name, text)));
  }
}

function addFurther(document: Document, names: ReadonlySet<string>, define: Define): void {
  const key = keyOf(String(document.getIn(['metadata', 'name'])));
  const further = define({
    name: `${key}.env`,
    schema: {
      ...TEXTS,
      propertyNames: { pattern: '^[A-Z_][A-Z0-9_]*$', not: { enum: [...names] } },
    },
    default: {},
    description: 'Further variables, and none that the chart sets itself',
  });
  addLine(
    listAt(document, ...CONTAINER, 'env'),
    inside(`range $name, $value := ${further}`, variable('{{ $name }}', '$value')),
  );
  const from = define({
    name: `${key}.envFrom`,
    schema: OBJECTS,
    default: [],
    description: 'Secrets and ConfigMaps whose keys are variables',
  });
  setLine(mapAt(document, ...CONTAINER), 'envFrom', inside(`with ${from}`, json('.')));
}

function variable(name: string, value: string): Scalar {
  return new Scalar(hole(`{ name: ${name}, value: {{ ${value} | toJson }} }`));
}

const REDIS = pattern('^(rediss?(-sentinel|-cluster)?://.+)?$');

/** Returns what stands in place of the values of a service's variables. */
function expressionsOf(
  service: string,
  given: ReadonlyMap<string, string>,
  define: Define,
): Map<string, string> {
  const redis = (name: string, what: string) => {
    const url = define({
      name: `${name}.redisUrl`,
      schema: REDIS,
      default: '',
      description: `A Redis of your own for ${what}, in place of the Valkey of the chart`,
    });
    return [['REDIS_URL', `${url} | default "${given.get('REDIS_URL')}"`]] as const;
  };
  switch (service) {
    case 'controlplane':
      return new Map([
        ['RESOURCES_KUBERNETES', `join "," (${NAMESPACES.resources})`],
        ['EDGE_HTTPS_PORT', '$.Values.edge.service.httpsPort | int | toString'],
      ]);
    case 'sds':
      return new Map([
        ['INSTANCES_KUBERNETES', `join "," (${NAMESPACES.instances})`],
        ['IDENTITY_SECRETS', `join "," (${withFurther(identities(given), more(define))})`],
      ]);
    case 'ext-authz':
      return new Map(redis('sessions', 'sessions'));
    case 'ratelimit-service':
      return new Map(redis('counters', 'counters of rate limits'));
    default:
      return new Map();
  }
}

/** Returns the list of these words and of what a value adds, if it is given. */
function withFurther(words: string, value: string): string {
  return `concat (list ${words}) (${value} | default list) | uniq`;
}

function identities(given: ReadonlyMap<string, string>): string {
  const names = given.get('IDENTITY_SECRETS')?.split(',') ?? [];
  return names.map(name => JSON.stringify(name)).join(' ');
}

function more(define: Define): string {
  return define({
    name: 'identities',
    schema: NAMES,
    default: [],
    description:
      'Node groups of your own proxies, which get the Secrets `gateway-identity-<group>`',
  });
}
