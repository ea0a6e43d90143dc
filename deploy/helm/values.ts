import { stringify } from 'yaml';

/** A schema of JSON Schema, draft 7. */
export type JsonSchema = { readonly [key: string]: unknown };

/** What people may set when they install the chart. */
export type Value = {
  /** Its path, such as `edge.service.type`. */
  readonly name: string;
  readonly schema: JsonSchema;
  readonly default: unknown;
  /** Whether `null` has a meaning of its own. */
  readonly mayBeNull?: boolean;
  /** One line for the table and the schema. */
  readonly description: string;
};

export const BOOLEAN: JsonSchema = { type: 'boolean' };
export const COUNT: JsonSchema = { type: 'integer', minimum: 1 };
export const PORT: JsonSchema = { type: 'integer', minimum: 1, maximum: 65_535 };
export const TEXT: JsonSchema = { type: 'string' };
/** A DNS label, as RFC 1123 has it. */
export const NAME: JsonSchema = { type: 'string', pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' };
export const NAMES: JsonSchema = { type: 'array', items: NAME, uniqueItems: true };
/** Kubernetes checks what these hold. */
export const OBJECT: JsonSchema = { type: 'object' };
export const OBJECTS: JsonSchema = { type: 'array', items: OBJECT };
export const TEXTS: JsonSchema = { type: 'object', additionalProperties: TEXT };
export const choice = (...texts: readonly string[]): JsonSchema => ({ enum: texts });
export const pattern = (text: string): JsonSchema => ({ type: 'string', pattern: text });

/** Asks whether a switch is on whose default is on. One without a value (`enabled:`) is. */
export const isOn = (name: string) => `ne $.Values.${name} false`;

type Tree = { [key: string]: Tree | Value };

/** Returns the schema of all values, which knows no others. `global` is Helm's own. */
export function valuesSchema(values: readonly Value[]): JsonSchema {
  const schema = schemaOf(treeOf(values));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...schema,
    properties: { global: OBJECT, ...(schema.properties as object) },
  };
}

/** Returns values.yaml, with each description above its value. */
export function valuesYaml(values: readonly Value[]): string {
  return yamlOf(treeOf(values), '');
}

/** Returns the defaults as Helm's templates see them. */
export function defaultsOf(values: readonly Value[]): object {
  return valuesIn(treeOf(values));
}

function valuesIn(tree: Tree): object {
  return Object.fromEntries(
    Object.entries(tree).map(([key, node]) => [key, isValue(node) ? node.default : valuesIn(node)]),
  );
}

function treeOf(values: readonly Value[]): Tree {
  const tree: Tree = {};
  for (const value of values) {
    const [last = '', ...folders] = value.name.split('.').reverse();
    const parent = folders.reduceRight<Tree>((at, key) => {
      at[key] ??= {};
      return at[key] as Tree;
    }, tree);
    parent[last] = value;
  }
  return tree;
}

function schemaOf(tree: Tree): JsonSchema {
  const properties = Object.entries(tree).map(([key, node]) => [
    key,
    isValue(node)
      ? { description: node.description, ...node.schema, default: node.default }
      : schemaOf(node),
  ]);
  return {
    type: 'object',
    additionalProperties: false,
    required: Object.keys(tree).filter(key => isNeeded(tree[key])),
    properties: Object.fromEntries(properties),
  };
}

/** Helm takes out what is `null`, and checks the rest. Empty defaults are meant to be left out. */
function isNeeded(node: Tree | Value | undefined): boolean {
  if (node === undefined || !isValue(node)) return true;
  const { default: fallback, mayBeNull = false } = node;
  if (Array.isArray(fallback)) return fallback.length > 0;
  return !mayBeNull && Boolean(fallback) && ['string', 'number'].includes(typeof fallback);
}

function yamlOf(tree: Tree, indent: string): string {
  return Object.entries(tree)
    .map(([key, node]) =>
      isValue(node)
        ? `${indent}# ${node.description}\n${indent}${key}: ${inOneLine(node.default)}\n`
        : `${indent}${key}:\n${yamlOf(node, `${indent}  `)}`,
    )
    .join('');
}

/** Returns a default as it stands in values.yaml. */
export function inOneLine(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
}

function isValue(node: Tree | Value): node is Value {
  return typeof node.description === 'string';
}

/** Defines a value unless there is one of its name. Returns how templates call it. */
export type Define = (value: Value) => string;
