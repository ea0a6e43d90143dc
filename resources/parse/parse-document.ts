import { type Document, isMap, isSeq } from 'yaml';
import { type FieldPath, type Finding, formatPath } from '#resources/finding.ts';
import { isKind } from '#resources/kinds/known-kinds.ts';
import type { Problem } from '#resources/problem.ts';
import { resourceId } from '#resources/resource.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { nearest } from '#resources/words/suggest.ts';
import { readPlainYaml } from '#resources/yaml/plain-yaml.ts';
import { spellOutPatterns } from '#resources/yaml/repeated-labels.ts';
import { findDuplicateKeys, hasDuplicateKeys } from '#resources/yaml/yaml-duplicate-keys.ts';
import { keyOf, lineFinder } from '#resources/yaml/yaml-node.ts';
import { readYaml, type YamlDocument } from '#resources/yaml/yaml-value.ts';
import { readEnvelope } from './envelope.ts';
import { JOINED, type JoinedPart, joinedParts } from './joined-documents.ts';
import { readMetadata } from './metadata.ts';
import type { Language } from './parse-options.ts';
import { parseResource } from './parse-resource.ts';
import {
  EMPTY_FILE,
  mergeParsed,
  type ParsedFile,
  problemAt,
  unreadableDocument,
} from './parsed-file.ts';
import { placeOutcome } from './place-outcome.ts';
import { truthWords } from './truth-words.ts';
import { unreadParts } from './unread-documents.ts';

/**
 * Parses the text of one YAML document. Lines in the result count from its own first line, and
 * `file` is empty. Never throws, whatever the text.
 */
export function parseDocument(text: string, language: Language): ParsedFile {
  try {
    const simple = parseSimple(text, language);
    if (simple !== undefined) return simple;
    const yaml = readYaml(text);
    const { document, read, lineAt } = yaml;
    if ('value' in read) {
      return parseNode(
        document.contents,
        read.value,
        { ...yaml, repeats: hasDuplicateKeys(yaml) },
        language,
      );
    }
    return readBroken(
      document,
      problemAt(lineAt(read.broken.offset), read.broken.message),
      language,
    );
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return unreadableDocument('it is nested too deeply');
  }
}

/**
 * Returns the same for a document that is read without the library, in a fraction of the time.
 * @returns undefined when it is none
 */
export function parseSimple(text: string, language: Language): ParsedFile | undefined {
  const plain = readPlainYaml(text);
  if (plain === undefined || plain.value.kind === 'List') return undefined;
  return parseFields(plain.value, [], plain.lineOf, language);
}

/**
 * `repeats` means that a key stands twice in one of its maps. `around` is what is wrong with the
 * document that a resource stands in.
 */
type Parsing = YamlDocument & {
  readonly repeats: boolean;
  readonly around?: readonly Finding[];
};

/**
 * Reads the name of a broken document. No field of it is trusted, because others may stand behind
 * the error.
 */
function readBroken(document: Document, problem: Problem, language: Language): ParsedFile {
  const [apiVersion, kind] = [document.get('apiVersion'), document.get('kind')];
  const envelope = readEnvelope({ apiVersion, kind }, language.apiGroups);
  const foreign = typeof apiVersion === 'string' && typeof kind === 'string' && kind !== 'List';
  if (envelope === undefined) return { ...EMPTY_FILE, problems: [problem], readable: foreign };
  const written = {
    name: document.getIn(['metadata', 'name']),
    namespace: document.getIn(['metadata', 'namespace']),
  };
  const scope = isKind(envelope.kind) ? language.kinds[envelope.kind].scope : undefined;
  const { namespace, name } = readMetadata(written, scope);
  const identity = { kind: envelope.kind, namespace, name };
  const problems = [{ ...problem, ...identity }];
  if (identity.kind === '' || name === '') return { ...EMPTY_FILE, problems, readable: false };
  const source = { file: '', line: problem.line };
  const rejected = { ...identity, id: resourceId(identity.kind, namespace, name), source };
  // A name that ends where the document broke off is not the whole name.
  return { ...EMPTY_FILE, rejected: [rejected], problems, anonymous: true };
}

function parseNode(
  written: unknown,
  value: unknown,
  yaml: Parsing,
  language: Language,
): ParsedFile {
  if (value === null || value === undefined) return EMPTY_FILE;
  const node = yaml.resolve(written);
  const lineAt = lineFinder(node, yaml);
  if (!isFields(value)) {
    return anonymous(
      problemAt(lineAt([]), 'a resource is a map with `apiVersion`, `kind`, `metadata` and `spec`'),
    );
  }
  const joined = yaml.repeats ? joinedParts(node, yaml.document) : undefined;
  if (joined !== undefined) return parseJoined(joined, yaml, language);
  if (value.kind === 'List') return parseList(node, value, yaml, language);
  const { fields, duplicates } = yaml.repeats
    ? readRepeats(node, value, yaml)
    : { fields: value, duplicates: [] };
  const words = value.kind === 'Mapping' ? truthWords(node, yaml.resolve) : [];
  return parseFields(fields, [...(yaml.around ?? []), ...duplicates, ...words], lineAt, language);
}

/** Parses the fields of a document. `ofText` is what its text alone shows. */
function parseFields(
  fields: Fields,
  ofText: readonly Finding[],
  lineAt: (path: FieldPath) => number,
  language: Language,
): ParsedFile {
  const outcome = parseResource(fields, ofText, language);
  const parsed =
    outcome === undefined ? parseUnread(fields, lineAt([])) : placeOutcome(outcome, lineAt);
  const unread = unreadParts(fields, language, outcome !== undefined).map(
    ({ path, ...unread }): Problem => ({
      ...problemAt(lineAt(path), unread.message),
      ...{ severity: unread.severity, field: formatPath(path) },
    }),
  );
  return unread.length === 0 ? parsed : { ...parsed, problems: [...parsed.problems, ...unread] };
}

/**
 * A document without a kind may be the rest of a file that broke off. So what the file had before
 * may be hidden, and stays in force.
 */
function parseUnread({ apiVersion, items, kind }: Fields, line: number): ParsedFile {
  if (isNearlyList(apiVersion, kind) && Array.isArray(items))
    return anonymous(problemAt(line, `unknown kind \`${kind}\`, did you mean \`List\`?`));
  if (typeof kind === 'string' && kind !== '') return EMPTY_FILE;
  const what =
    apiVersion === undefined ? 'neither `apiVersion` nor `kind`' : 'an `apiVersion` and no `kind`';
  return anonymous({ ...problemAt(line, `this has ${what}. It is ignored`), severity: 'warning' });
}

/** Its items may hold what is meant to restrict. */
function isNearlyList(apiVersion: unknown, kind: unknown): boolean {
  const isOwn = apiVersion === undefined || apiVersion === 'v1';
  return isOwn && typeof kind === 'string' && nearest(kind, ['List']) !== undefined;
}

/**
 * Keys may stand twice in the items of a RateLimit's patterns, and nowhere else
 * (docs/explanation/how-a-limit-is-counted.md).
 */
function readRepeats(node: unknown, value: Fields, { resolve }: Parsing) {
  const { fields, items } =
    value.kind === 'RateLimit'
      ? spellOutPatterns(node, value, resolve)
      : { fields: value, items: new Set() };
  return { fields, duplicates: findDuplicateKeys(node, resolve, items) };
}

/** What each part would restrict is closed, since it is not known which was meant. */
function parseJoined(parts: readonly JoinedPart[], yaml: Parsing, language: Language): ParsedFile {
  const within = { ...yaml, around: [JOINED] };
  return mergeParsed(
    '',
    parts.map(({ node, value }) => parseNode(node, value, within, language)),
  );
}

/** Parses the items of a `kind: List`, as `kubectl get -o yaml` writes it. */
function parseList(
  node: unknown,
  { apiVersion, items }: Fields,
  yaml: Parsing,
  language: Language,
): ParsedFile {
  if (!Array.isArray(items)) return parseNoList(apiVersion, items, lineFinder(node, yaml));
  const written = isMap(node)
    ? node.items.findLast(pair => keyOf(pair) === 'items')?.value
    : undefined;
  const list = yaml.resolve(written);
  const nodes = isSeq(list) ? list.items : [];
  return mergeParsed(
    '',
    items.map((item, index) => parseNode(nodes[index], item, yaml, language)),
  );
}

/**
 * Go writes null for a list without items. The `List` of another API may be anything. All else may
 * hold what is meant to restrict.
 */
function parseNoList(
  apiVersion: unknown,
  items: unknown,
  lineAt: (path: FieldPath) => number,
): ParsedFile {
  if (items === null || (items === undefined && apiVersion !== 'v1')) return EMPTY_FILE;
  return anonymous(
    problemAt(lineAt(['items']), 'a List has `items`, which is a list of resources'),
  );
}

function anonymous(problem: Problem): ParsedFile {
  return { ...EMPTY_FILE, problems: [problem], anonymous: true };
}
