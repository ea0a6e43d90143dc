import { caution, type FieldPath, type Finding, fault } from '#resources/finding.ts';
import type { ResourceMetadata } from '#resources/resource.ts';
import type { MetadataFact } from '#resources/schema/kind.ts';
import { restricts } from '#resources/schema/restrictions.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { nearest } from '#resources/words/suggest.ts';

export type Metadata = {
  readonly namespace: string;
  readonly name: string;
  readonly findings: readonly Finding[];
};

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const DNS_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const DEFAULT_NAMESPACE = 'default';

/**
 * Reads `metadata.name` and `metadata.namespace`. They follow Kubernetes' rules for object names, a
 * DNS subdomain and a DNS label. With findings, the name is the part of it that could be read,
 * perhaps nothing. What is of the whole cluster has no namespace.
 */
export function readMetadata(
  metadata: unknown,
  scope: 'Namespaced' | 'Cluster' = 'Namespaced',
): Metadata {
  const fields: Fields = isFields(metadata) ? metadata : {};
  const { name } = fields;
  if (scope === 'Cluster')
    return { namespace: '', name: textOr(name, ''), findings: checkName(name) };
  const namespace = fields.namespace ?? DEFAULT_NAMESPACE;
  const findings = [...checkName(name), ...checkNamespace(namespace)];
  return { name: textOr(name, ''), namespace: textOr(namespace, DEFAULT_NAMESPACE), findings };
}

/** Returns those facts of `metadata` that are there in the form that Kubernetes gives them. */
export function readFacts(metadata: unknown, facts: readonly MetadataFact[]): ResourceMetadata {
  const fields: Fields = isFields(metadata) ? metadata : {};
  const { generation, creationTimestamp, [labelsKey(fields)]: labels } = fields;
  return {
    ...(facts.includes('generation') && Number.isSafeInteger(generation)
      ? { generation: Number(generation) }
      : {}),
    ...(facts.includes('created') && typeof creationTimestamp === 'string'
      ? { created: creationTimestamp }
      : {}),
    ...(facts.includes('labels') && isFields(labels) ? { labels: textsOf(labels) } : {}),
  };
}

/** Labels under a misspelt key count, as labels that are no text do. */
function labelsKey(metadata: Fields): string {
  if (Object.hasOwn(metadata, 'labels')) return 'labels';
  const maps = Object.keys(metadata).filter(key => isFields(metadata[key]));
  return nearest('labels', maps) ?? 'labels';
}

function textsOf(labels: Fields): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, labelText(value)]));
}

/**
 * A label that is no text is read as it would be in quotes. A selector must not take what has it
 * for something without it.
 */
function labelText(value: unknown): string {
  const isWord = typeof value === 'boolean' || typeof value === 'number';
  return isWord ? String(value) : textOr(value, '');
}

/** Tells of labels that the API of Kubernetes would not take. */
export function checkLabels(
  metadata: unknown,
  facts: readonly MetadataFact[] = [],
): readonly Finding[] {
  if (!facts.includes('labels') || !isFields(metadata)) return [];
  const key = labelsKey(metadata);
  const path = ['metadata', key];
  const labels = metadata[key];
  if (!isFields(labels))
    return restricts(labels) ? [fault(path, '`labels` must be a map from name to string')] : [];
  const misspelt = caution(path, `\`${key}\` is read as \`labels\`. Please write it so`);
  return [...(key === 'labels' ? [] : [misspelt]), ...checkTexts(labels, path)];
}

function checkTexts(labels: Fields, path: FieldPath): readonly Finding[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    if (typeof value === 'string') return [];
    const read = JSON.stringify(labelText(value));
    const message = `the label "${key}" must be a string. Quote it. It is read as ${read}`;
    return [caution([...path, key], message)];
  });
}

function checkName(name: unknown): readonly Finding[] {
  const path = ['metadata', 'name'];
  if (name === undefined || name === null) return [fault(path, '`metadata.name` is required')];
  if (typeof name !== 'string') return [fault(path, '`name` must be a string. Quote it')];
  if (name.length <= 253 && SUBDOMAIN.test(name)) return [];
  return [
    fault(
      path,
      `"${name}" is not a name: lower-case letters, digits, "-" and "." only, 253 at most`,
    ),
  ];
}

function checkNamespace(namespace: unknown): readonly Finding[] {
  const path = ['metadata', 'namespace'];
  if (typeof namespace !== 'string') return [fault(path, '`namespace` must be a string. Quote it')];
  if (DNS_LABEL.test(namespace)) return [];
  return [
    fault(
      path,
      `"${namespace}" is not a namespace: lower-case letters, digits and "-" only, 63 at most`,
    ),
  ];
}

/** Half of a surrogate pair, which YAML can escape, has no UTF-8, so it could not be sent. */
function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' && value.isWellFormed() ? value : fallback;
}
