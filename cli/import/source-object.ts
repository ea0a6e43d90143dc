import { isMap, isSeq } from 'yaml';
import type { FieldPath } from '#resources/finding.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { splitDocuments } from '#resources/yaml/document-text.ts';
import { findDuplicateKeys } from '#resources/yaml/yaml-duplicate-keys.ts';
import { keyOf, lineFinder } from '#resources/yaml/yaml-node.ts';
import { readYaml, type YamlDocument } from '#resources/yaml/yaml-value.ts';

/** An object of Kubernetes in a file, as others wrote it. */
export type SourceObject = {
  /** Of `apiVersion`, empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Absent where none is written. */
  readonly namespace?: string;
  readonly name: string;
  readonly fields: Fields;
  readonly file: string;
  /** Returns the line in the file of a field, or of the nearest field above it. */
  readonly lineOf: (path: FieldPath) => number;
};

/**
 * Reads the objects of a file, those in a `kind: List` too. A key may stand twice in a map only
 * with `repeats`, as labels do in patterns of a RateLimit.
 * @throws Error when a part of the file cannot be read, because it might hold a restriction
 */
export function readObjects(file: string, text: string, repeats = false): readonly SourceObject[] {
  return splitDocuments(text).flatMap(({ linesBefore, text }) =>
    readDocument(text, { file, linesBefore, repeats }),
  );
}

type Place = { readonly file: string; readonly linesBefore: number; readonly repeats: boolean };

function readDocument(text: string, place: Place): readonly SourceObject[] {
  const yaml = readText(text, place);
  const { document, lineAt, read, resolve } = yaml;
  if ('broken' in read)
    throw new Error(`${lineIn(place, lineAt(read.broken.offset))}: ${read.broken.message}`);
  const twice = place.repeats
    ? undefined
    : findDuplicateKeys(document.contents, resolve, new Set())[0];
  if (twice !== undefined) throw new Error(`${lineIn(place, lineAt(0))}: ${twice.message}`);
  return objectsIn(resolve(document.contents), read.value, { ...yaml, ...place });
}

function readText(text: string, place: Place): YamlDocument {
  try {
    return readYaml(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Error(`${lineIn(place, 1)}: it is nested too deeply`);
  }
}

function lineIn({ file, linesBefore }: Place, line: number): string {
  return `${file}:${linesBefore + line}`;
}

function objectsIn(
  node: unknown,
  value: unknown,
  yaml: YamlDocument & Place,
): readonly SourceObject[] {
  if (value === null || value === undefined) return [];
  const lineInText = lineFinder(node, yaml);
  if (!isFields(value)) throw new Error(`${lineIn(yaml, lineInText([]))}: it is no object`);
  if (Array.isArray(value.items) && String(value.kind).endsWith('List'))
    return itemsOf(node, value.items, yaml);
  const { apiVersion, kind, metadata } = value;
  const { name, namespace } = isFields(metadata) ? metadata : {};
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof name !== 'string')
    throw new Error(
      `${lineIn(yaml, lineInText([]))}: an object has \`apiVersion\`, \`kind\` and \`metadata.name\``,
    );
  const slash = apiVersion.lastIndexOf('/');
  return [
    {
      group: apiVersion.slice(0, Math.max(0, slash)),
      version: apiVersion.slice(slash + 1),
      kind,
      name,
      ...(typeof namespace === 'string' ? { namespace } : {}),
      fields: value,
      file: yaml.file,
      lineOf: path => yaml.linesBefore + lineInText(path),
    },
  ];
}

/** As `kubectl get -o yaml` writes them. */
function itemsOf(
  node: unknown,
  items: readonly unknown[],
  yaml: YamlDocument & Place,
): readonly SourceObject[] {
  const written = isMap(node) ? node.items.findLast(pair => keyOf(pair) === 'items')?.value : null;
  const list = yaml.resolve(written);
  const nodes = isSeq(list) ? list.items : [];
  return items.flatMap((item, index) => objectsIn(yaml.resolve(nodes[index]), item, yaml));
}

/** Returns an object of the core group. Where no namespace is written it is `default`. */
export function findObject(
  objects: readonly SourceObject[],
  kind: string,
  name: string,
  namespace = 'default',
): SourceObject | undefined {
  return objects.find(
    object =>
      object.group === '' &&
      object.kind === kind &&
      object.name === name &&
      (object.namespace ?? 'default') === namespace,
  );
}
