import { type KubernetesObject, objectKey } from '#kubernetes/kubernetes-object.ts';
import { isAmbientKind } from '#resources/kinds/known-kinds.ts';
import type { Parser } from '#resources/parse/parse.ts';
import { EMPTY_FILE, type ParsedFile } from '#resources/parse/parsed-file.ts';
import { resourceId } from '#resources/resource.ts';

/** `left` means that it is for another gateway, and was for this one when it was parsed before. */
export type ParsedObject = ParsedFile & { readonly left?: boolean };

/**
 * Parses one object of the API. Returns the same result as the last time if only its status has
 * changed.
 */
export type ParseObject = (object: KubernetesObject) => ParsedObject;

export type ObjectParser = {
  readonly parse: ParseObject;
  /** Forgets the object with this key (`namespace/name`), which is deleted. */
  forget(key: string): void;
};

/**
 * Creates a parser that remembers the result of each object. `place` is where they are, as Problems
 * name it. An object has no lines, so its line is 0. An object whose labels or annotations changed
 * counts as changed.
 */
export function objectParser(place: string, parser: Parser): ObjectParser {
  const known = new Map<string, { readonly content: string; readonly parsed: ParsedObject }>();
  const parse: ParseObject = object => {
    const key = objectKey(object);
    const content = contentOf(object);
    const before = known.get(key);
    if (before?.content === content) return before.parsed;
    const result = parseObject(object, place, parser);
    const parsed = isSame(result, before?.parsed)
      ? before.parsed
      : withLeft(result, before?.parsed);
    known.set(key, { content, parsed });
    return parsed;
  };
  return { parse, forget: key => void known.delete(key) };
}

/** Most changes of a Service or a Namespace are none for us, as of its status. */
function isSame(
  { resources }: ParsedFile,
  before: ParsedObject | undefined,
): before is ParsedObject {
  const [resource] = resources;
  if (resource === undefined || !isAmbientKind(resource.kind)) return false;
  const [known] = before?.resources ?? [];
  return known?.id === resource.id && known.hash === resource.hash;
}

function withLeft(parsed: ParsedFile, before: ParsedObject | undefined): ParsedObject {
  const left = !isOurs(parsed) && before !== undefined && (isOurs(before) || before.left === true);
  return left ? { ...parsed, left } : parsed;
}

function isOurs({ resources, rejected }: ParsedFile): boolean {
  return resources.length + rejected.length > 0;
}

/**
 * Changes with everything but the status and the managed fields. What has no generation, as a
 * Secret, changes with each version. See Kubernetes API conventions, "Metadata": generation.
 */
function contentOf({ metadata }: KubernetesObject): string {
  const { uid, generation, resourceVersion, labels, annotations } = metadata;
  return JSON.stringify([uid, generation ?? `version ${resourceVersion}`, labels, annotations]);
}

/**
 * Parses an object like a file. Of its metadata only what an operator writes counts, and its status
 * does not. Never throws, whatever the object.
 */
function parseObject(object: KubernetesObject, place: string, parser: Parser): ParsedFile {
  const { metadata, status: _, ...fields } = object;
  const { name, namespace } = metadata;
  const written = namespace === undefined ? { name } : { name, namespace };
  const document = { ...fields, metadata: { ...written, ...factsOf(object, parser) } };
  try {
    return parser.value(document, { file: place, line: 0 });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return tooDeep(object, place);
  }
}

/** Returns what counts of the metadata of its kind. */
function factsOf({ kind = '', metadata }: KubernetesObject, parser: Parser): object {
  const facts = parser.facts(kind);
  const { generation, creationTimestamp, labels } = metadata;
  return {
    ...(facts.includes('generation') && { generation }),
    ...(facts.includes('created') && { creationTimestamp }),
    ...(facts.includes('labels') && labels !== undefined && { labels }),
  };
}

/** Describes an object that exhausts the stack. */
function tooDeep({ kind = '', metadata }: KubernetesObject, place: string): ParsedFile {
  const { name, namespace = 'default' } = metadata;
  const source = { file: place, line: 0 };
  const rejected = { kind, namespace, name, id: resourceId(kind, namespace, name), source };
  const message = 'it is nested too deeply to be read';
  const problem = { severity: 'error', kind, namespace, name, ...source, message } as const;
  return { ...EMPTY_FILE, file: place, rejected: [rejected], problems: [problem] };
}
