import { KINDS } from '#resources/kinds/kinds.ts';
import { VERSION } from '#resources/parse/envelope.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { type OpenApi, openApi, orNull } from './open-api.ts';
import { kindNames, SERVED_KINDS, type ServedKind } from './served-kinds.ts';

/** One object of the API. */
export type Manifest = { readonly [field: string]: unknown };

/** Returns the definitions of all kinds in this group, from the same schemas as the parser. */
export function customResourceDefinitions(group: string): readonly Manifest[] {
  return [...SERVED_KINDS].sort().map(kind => customResourceDefinition(kind, group));
}

/**
 * Returns the definition of one kind. See kubernetes.io, CustomResourceDefinition
 * apiextensions.k8s.io/v1.
 */
function customResourceDefinition(kind: ServedKind, group: string): Manifest {
  const { plural, singular, short } = kindNames(kind);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames: [short] },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: COLUMNS,
          schema: { openAPIV3Schema: rootSchema(KINDS[kind]) },
        },
      ],
    },
  };
}

const conditionColumn = (type: string) => ({
  name: type,
  type: 'string',
  jsonPath: `.status.conditions[?(@.type=="${type}")].status`,
});

const COLUMNS = [
  conditionColumn('Ready'),
  conditionColumn('Accepted'),
  conditionColumn('Programmed'),
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

/** What stands beside `spec` by mistake comes to the parser, too. */
function rootSchema({ summary, schema }: KindDefinition): OpenApi {
  return {
    description: summary,
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: { spec: orNull(openApi(schema)), status: statusOf(schema) },
  };
}

const text = (description: string, more: OpenApi = {}): OpenApi => ({
  description,
  type: 'string',
  ...more,
});

const OBSERVED_GENERATION: OpenApi = {
  description: 'Generation of the object that this describes',
  type: 'integer',
  format: 'int64',
};

/** A condition is Kubernetes' own type of that name (meta/v1 Condition). */
const CONDITION: OpenApi = {
  type: 'object',
  required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  properties: {
    type: text('Accepted, Programmed, Ready, Stalled or Reachable'),
    status: text('Whether the condition holds', { enum: ['True', 'False', 'Unknown'] }),
    reason: text('Why, in one word'),
    message: text('Why, for people'),
    observedGeneration: OBSERVED_GENERATION,
    lastTransitionTime: text('When `status` last changed', { format: 'date-time' }),
  },
};

const PROBLEM: OpenApi = {
  type: 'object',
  required: ['severity', 'message'],
  properties: {
    severity: text('An error, or a warning', { enum: ['error', 'warning'] }),
    field: text('Path of the field, if it is about one'),
    message: text('What is wrong, and what to do about it'),
  },
};

/** The status of a policy lists ancestors (Gateway API, PolicyStatus). */
function statusOf({ shape }: KindDefinition['schema']): OpenApi {
  return 'targetRefs' in shape
    ? { ...STATUS, properties: { ...STATUS_PROPERTIES, ancestors: ANCESTORS } }
    : STATUS;
}

const CONDITIONS: OpenApi = {
  type: 'array',
  items: CONDITION,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
};

const ANCESTORS: OpenApi = {
  description: 'Gateways that it has an effect on, and targets without one',
  type: 'array',
  maxItems: 16,
  items: {
    type: 'object',
    required: ['ancestorRef', 'controllerName', 'conditions'],
    properties: {
      ancestorRef: {
        type: 'object',
        required: ['name'],
        properties: {
          group: text('Its group'),
          kind: text('Its kind'),
          namespace: text('Its namespace'),
          name: text('Its name'),
          sectionName: text('Its section'),
          port: { description: 'Its port', type: 'integer', format: 'int32' },
        },
      },
      controllerName: text('The controller that says so'),
      conditions: CONDITIONS,
    },
  },
};

const STATUS_PROPERTIES: OpenApi = {
  observedGeneration: OBSERVED_GENERATION,
  conditions: {
    description:
      'Accepted: all of it can be served. Programmed: this generation is in force in the proxies. Ready: both. Stalled: only an edit helps. Reachable: False while its service fails, absent while it never has',
    ...CONDITIONS,
  },
  problems: { description: 'Problems of the object', type: 'array', items: PROBLEM },
};

const STATUS: OpenApi = {
  description: 'The state that the gateway reports',
  type: 'object',
  properties: STATUS_PROPERTIES,
};
