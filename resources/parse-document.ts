import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isSeq,
  LineCounter,
  type Node,
  parseDocument as parseYaml,
} from 'yaml';
import { readEnvelope } from './envelope.ts';
import { readMetadata } from './metadata.ts';
import type { ParseOptions } from './parse-options.ts';
import { parseResource } from './parse-resource.ts';
import { EMPTY_FILE, mergeParsed, type ParsedFile } from './parsed-file.ts';
import { placeOutcome } from './place-outcome.ts';
import type { Problem } from './problem.ts';
import { resourceId } from './resource.ts';
import { findDuplicateKeys } from './yaml-duplicate-keys.ts';
import { explainYamlError } from './yaml-error.ts';
import { keyOf, offsetOf } from './yaml-position.ts';

/** How often what is behind an anchor may be repeated; more is taken for an attack ("billion laughs"). */
const MAX_ALIAS_COUNT = 100;

/** The document as read, and the line of each offset in it. */
type Reading = {
  readonly document: Document;
  readonly lineAt: (offset: number) => number;
  readonly options: ParseOptions;
};

/**
 * Parses the text of one YAML document. Lines in the result count from its own first line, and `file` is empty.
 * Never throws, whatever the text.
 */
export function parseDocument(text: string, options: ParseOptions): ParsedFile {
  const lines = new LineCounter();
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line);
  try {
    const document = parseYaml(text, {
      lineCounter: lines,
      prettyErrors: false,
      uniqueKeys: false,
      merge: true,
    });
    const reading = { document, lineAt, options };
    const [error] = document.errors;
    if (error !== undefined)
      return readBroken(reading, problemAt(lineAt(error.pos[0]), explainYamlError(error)));
    return isNode(document.contents) ? parseNode(document.contents, reading) : EMPTY_FILE;
  } catch (error) {
    return { ...EMPTY_FILE, problems: [problemAt(1, explainThrown(error))], readable: false };
  }
}

/** The YAML library throws where aliases expand without end, and the engine where nesting exhausts the stack. */
function explainThrown(error: unknown): string {
  if (error instanceof ReferenceError) return 'Cannot read this YAML: its aliases expand to too much';
  if (error instanceof RangeError) return 'Cannot read this YAML: it is nested too deeply';
  throw error;
}

function problemAt(line: number, message: string): Problem {
  return { severity: 'error', kind: '', namespace: '', name: '', file: '', line, message };
}

/** No field of a broken document is trusted, for others may stand behind the error; but its name may be known. */
function readBroken({ document, options }: Reading, problem: Problem): ParsedFile {
  const fields = toFields(document, document.contents) ?? {};
  const envelope = readEnvelope(fields, options.apiGroups);
  if (envelope === undefined) return { ...EMPTY_FILE, problems: [problem], readable: isForeign(fields) };
  const { kind } = envelope;
  const { namespace, name } = readMetadata(fields.metadata);
  const problems = [{ ...problem, kind, namespace, name }];
  if (kind === '' || name === '') return { ...EMPTY_FILE, problems, readable: false };
  const refused = {
    kind,
    namespace,
    name,
    id: resourceId(kind, namespace, name),
    source: { file: '', line: problem.line },
  };
  return { ...EMPTY_FILE, refused: [refused], problems };
}

function isForeign(fields: Readonly<Record<string, unknown>>): boolean {
  return typeof fields.apiVersion === 'string' && typeof fields.kind === 'string' && fields.kind !== 'List';
}

function parseNode(node: Node, reading: Reading): ParsedFile {
  const { document, lineAt, options } = reading;
  const items = listItems(node);
  if (items !== undefined)
    return mergeParsed(
      '',
      items.map(item => parseNode(item, reading)),
    );
  const fields = toFields(document, node);
  const line = lineAt(offsetOf(document, node, []));
  if (fields === undefined)
    return {
      ...EMPTY_FILE,
      problems: [problemAt(line, 'a resource is a map with `apiVersion`, `kind`, `metadata` and `spec`')],
    };
  if (fields.apiVersion === undefined && fields.kind === undefined) {
    const problem = problemAt(line, 'this has neither `apiVersion` nor `kind`; it is ignored');
    return { ...EMPTY_FILE, problems: [{ ...problem, severity: 'warning' }] };
  }
  const outcome = parseResource(fields, findDuplicateKeys(node), options);
  return outcome === undefined
    ? EMPTY_FILE
    : placeOutcome(outcome, path => lineAt(offsetOf(document, node, path)));
}

/** The items of a `kind: List`, as `kubectl get -o yaml` writes it. */
function listItems(node: Node): readonly Node[] | undefined {
  if (!isMap(node) || node.get('kind') !== 'List') return undefined;
  const items = node.items.find(pair => keyOf(pair) === 'items')?.value;
  return isSeq(items) ? items.items.filter(isNode) : [];
}

function toFields(document: Document, node: unknown): Readonly<Record<string, unknown>> | undefined {
  const target = isAlias(node) ? node.resolve(document) : node;
  return isMap(target) ? target.toJS(document, { maxAliasCount: MAX_ALIAS_COUNT }) : undefined;
}
