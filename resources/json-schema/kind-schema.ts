import { KINDS } from '#resources/kinds/kinds.ts';
import {
  DOCUMENTED_KINDS,
  GATEWAY_API_GROUP,
  GATEWAY_API_VERSIONS,
  isGatewayApiKind,
  type Kind,
  SINGLETONS,
} from '#resources/kinds/known-kinds.ts';
import { VERSION } from '#resources/parse/envelope.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { RESTRICTIONS } from '#resources/schema/restrictions.ts';
import { DRAFT, type JsonSchema } from './json-schema.ts';
import { type MoreFields, objectSchema } from './value-schema.ts';

/** The gateway's own kinds. */
const OWN_KINDS = DOCUMENTED_KINDS.filter(kind => kind !== 'Secret' && !isGatewayApiKind(kind));

const { apiGroups } = DEFAULT_PARSE_OPTIONS;
const OWN_GROUPS = patternOf(apiGroups);

/** Returns the schema of one document of a kind, for editors. */
export function kindSchema(kind: Kind): JsonSchema {
  const { fieldsAt, schema, summary } = KINDS[kind];
  const fields = objectSchema(schema.shape, '', unservedFields(kind));
  const inSpec = fieldsAt === 'spec';
  return {
    $schema: DRAFT,
    title: kind,
    description: summary,
    type: 'object',
    properties: {
      apiVersion: { description: 'Group and version of the kind', enum: versionsOf(kind) },
      kind: { description: summary, const: kind },
      metadata: metadataSchema(kind),
      ...(inSpec ? { spec: fields } : Object(fields.properties)),
      status: { description: 'What the gateway reports. It is not written by people' },
    },
    required: ['apiVersion', 'kind', 'metadata', ...(inSpec ? ['spec'] : [])],
    additionalProperties: false,
  };
}

function versionsOf(kind: Kind): readonly string[] {
  if (kind === 'Secret') return ['v1'];
  if (isGatewayApiKind(kind))
    return GATEWAY_API_VERSIONS[kind].map(version => `${GATEWAY_API_GROUP}/${version}`);
  return apiGroups.map(group => `${group}/${VERSION}`);
}

/** See Kubernetes, "Object Names and IDs". */
const SUBDOMAIN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';
const DNS_LABEL = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$';

function metadataSchema(kind: Kind): JsonSchema {
  const [name] = SINGLETONS.get(kind) ?? [];
  const namespace = {
    description: 'Its namespace',
    type: ['string', 'null'],
    pattern: DNS_LABEL,
    default: 'default',
  };
  return {
    type: 'object',
    properties: {
      name: {
        description: 'Its name, which is unique in its namespace',
        type: 'string',
        ...(name === undefined ? { pattern: SUBDOMAIN, maxLength: 253 } : { enum: [name] }),
      },
      ...(KINDS[kind].scope === 'Cluster' ? {} : { namespace }),
      labels: { description: 'For people and other programs' },
      annotations: { description: 'For people and other programs' },
    },
    required: ['name'],
  };
}

/** Fields of Ambassador's that are not served. The Module's `ignore` may leave them out. */
function unservedFields(kind: Kind): MoreFields {
  const rows = RESTRICTIONS.flatMap(({ does, field, kind: of }) =>
    of === kind && field !== undefined ? [{ does, field }] : [],
  );
  return path => {
    const here = rows.filter(({ field }) => parentOf(field) === path);
    return Object.fromEntries(
      here.map(({ does, field }) => {
        const deprecationMessage = `It is not served. What it is for is closed, because it ${does}`;
        return [field.slice(field.lastIndexOf('.') + 1), { deprecationMessage }];
      }),
    );
  };
}

function parentOf(field: string): string {
  return field.slice(0, Math.max(0, field.lastIndexOf('.')));
}

/**
 * Returns the schema of a document of any kind. Its `apiVersion` and `kind` say which schema it is
 * checked by. A document of another program, such as a Deployment, may be anything. `refOf` gives
 * where the schema of a kind is.
 */
export function allKindsSchema(refOf: (kind: Kind) => string): JsonSchema {
  const list = { properties: { items: { items: { $ref: '#' } } } };
  return {
    $schema: DRAFT,
    title: 'Resource of the gateway',
    properties: {
      apiVersion: { description: 'Group and version of the kind', type: 'string' },
      kind: {
        description: 'What it is',
        anyOf: [{ enum: DOCUMENTED_KINDS }, { type: 'string' }],
      },
    },
    allOf: [
      ...DOCUMENTED_KINDS.map(kind => ifThen(isOf(kind), { $ref: refOf(kind) })),
      ifThen(
        { properties: { apiVersion: OWN_GROUPS }, required: ['apiVersion'] },
        { properties: { kind: { enum: OWN_KINDS } }, required: ['kind'] },
      ),
      ifThen({ properties: { kind: { const: 'List' } }, required: ['kind'] }, list),
    ],
  };
}

/** Returns the schema of all kinds in one file, which needs no other. */
export function bundledSchema(): JsonSchema {
  const definitions = DOCUMENTED_KINDS.map(kind => {
    const { $schema: _, ...schema } = kindSchema(kind);
    return [kind, schema];
  });
  const schema = allKindsSchema(kind => `#/definitions/${kind}`);
  return { ...schema, definitions: Object.fromEntries(definitions) };
}

function ifThen(condition: JsonSchema, schema: JsonSchema): JsonSchema {
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema
  return { if: { type: 'object', ...condition }, then: schema };
}

/** A wrong version of the right group is a mistake in the kind's own schema. */
function isOf(kind: Kind): JsonSchema {
  return {
    properties: { apiVersion: groupOf(kind), kind: { const: kind } },
    required: ['apiVersion', 'kind'],
  };
}

function groupOf(kind: Kind): JsonSchema {
  if (kind === 'Secret') return { pattern: '^[^/]*$' };
  return isGatewayApiKind(kind) ? patternOf([GATEWAY_API_GROUP]) : OWN_GROUPS;
}

function patternOf(groups: readonly string[]): JsonSchema {
  return { pattern: `^(${groups.map(group => group.replaceAll('.', '\\.')).join('|')})/` };
}
