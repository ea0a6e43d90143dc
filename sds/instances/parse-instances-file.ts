import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLParseError,
} from 'yaml';
import { isJsonObject } from '#protos/json.ts';
import { type DeclaredItem, isComplaints, parseDeclaredItem } from './declared-item.ts';

/** A mistake in the file. `line` counts from 1. */
export type FileProblem = { readonly line: number; readonly message: string };

/** The items of each service, by service name. */
export type Declarations = ReadonlyMap<string, readonly DeclaredItem[]>;

export type InstancesFile = {
  /** Undefined when no part of the file can be used. */
  readonly services: Declarations | undefined;
  /** The services whose declaration is wrong. They are not in `services`. */
  readonly rejected: readonly string[];
  readonly problems: readonly FileProblem[];
};

/** The line of a mistake is searched from the top of the file. So of more these are told. */
const MOST_TOLD = 100;

type Path = readonly (string | number)[];
type Mistake = { readonly path: Path; readonly message: string };
type Source = { readonly document: Document; readonly lines: LineCounter };

/**
 * Parses the instances file. Its `services` maps each service name to one item or a list of items.
 * An item is `{address, port, hostname?, health_status?, load_balancing_weight?, locality?}` or
 * `{dns, port}`. A service with a wrong declaration is rejected alone. Text that is not YAML, or
 * has no `services`, is rejected whole.
 */
export function parseInstancesFile(text: string): InstancesFile {
  const lines = new LineCounter();
  // The library compares each key with all others of its map, which takes minutes in a long one.
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false };
  const document = parseDocument(text, options);
  const [error] = document.errors;
  if (error !== undefined) return refuse(lines.linePos(error.pos[0]).line, explain(error));
  const repeated = repeatedKey(document);
  if (repeated !== undefined)
    return refuse(lines.linePos(repeated.range?.[0] ?? 0).line, 'a key appears twice in one map');
  const top = toJs(document);
  if (top instanceof Error) return refuse(1, top.message);
  if (!isJsonObject(top) || !isJsonObject(top.services)) {
    return refuse(1, 'want a top-level map "services". Without any instance write "services: {}"');
  }
  const source = { document, lines };
  const unknown = Object.keys(top).find(key => key !== 'services');
  if (unknown !== undefined) return refuse(lineOf(source, [unknown]), `unknown field "${unknown}"`);
  return parseServices(source, top.services);
}

/** Keeps the YAML library's message, but replaces what it says to programmers. */
function explain({ code, message }: YAMLParseError): string {
  return code === 'MULTIPLE_DOCS' ? 'want one document, another begins here' : message;
}

function repeatedKey({ contents }: Document): Node | undefined {
  // It grows on the way. A text may be nested deeper than functions can call themselves.
  const nodes: unknown[] = [contents];
  for (const node of nodes) {
    if (isSeq(node)) for (const item of node.items) nodes.push(item);
    if (!isMap(node)) continue;
    const seen = new Set<unknown>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? key.value : key;
      if (isNode(key) && seen.has(name)) return key;
      seen.add(name);
      nodes.push(value);
    }
  }
  return undefined;
}

function refuse(line: number, message: string): InstancesFile {
  return { services: undefined, rejected: [], problems: [{ line, message }] };
}

/** Returns the plain value, or why there is none. An alias without a target is found only here. */
function toJs(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    return error;
  }
}

function parseServices(source: Source, byName: Readonly<Record<string, unknown>>): InstancesFile {
  const services = new Map<string, readonly DeclaredItem[]>();
  const rejected: string[] = [];
  const mistakes: Mistake[] = [];
  const unclear = unclearNames(byName);
  for (const [lower, [first, ...others]] of unclear) {
    rejected.push(lower);
    const message = `it differs from "${first}" in case alone, and a Mapping asks for "${lower}"`;
    for (const each of others) mistakes.push({ path: ['services', each], message });
  }
  for (const [name, value] of Object.entries(byName)) {
    const parsed = parseService(name, value);
    const names = namesOf(name, byName).filter(each => !unclear.has(each));
    if (parsed.mistakes.length > 0) rejected.push(...names);
    else for (const each of names) services.set(each, parsed.items);
    for (const each of parsed.mistakes) mistakes.push(each);
  }
  return { services, rejected, problems: toProblems(source, mistakes) };
}

/** A Mapping asks for its service in lower case, as it does in DNS. A ProxyConfig does not. */
function namesOf(name: string, byName: Readonly<Record<string, unknown>>): readonly string[] {
  const lower = name.toLowerCase();
  return Object.hasOwn(byName, lower) ? [name] : [name, lower];
}

/** Returns what is in the file more than once in other case, and not as a Mapping asks for it. */
function unclearNames(
  byName: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, readonly string[]> {
  const sharing = Map.groupBy(Object.keys(byName), name => name.toLowerCase());
  return new Map(
    [...sharing].filter(([lower, names]) => names.length > 1 && !Object.hasOwn(byName, lower)),
  );
}

function parseService(name: string, value: unknown) {
  const items: DeclaredItem[] = [];
  const mistakes: Mistake[] = [];
  const add = (each: unknown, path: Path) => {
    const parsed = parseDeclaredItem(each);
    if (!isComplaints(parsed)) return void items.push(parsed);
    for (const it of parsed) mistakes.push({ ...it, path: [...path, ...it.path] });
  };
  const path = ['services', name];
  // YAML can escape half of a surrogate pair, which has no UTF-8. Envoy rejects an empty name. Each
  // would take all other services away from a client that asks for all.
  if (name === '' || !name.isWellFormed())
    mistakes.push({ path, message: 'want a name of whole characters' });
  if (!Array.isArray(value)) add(value, path);
  else for (const [index, each] of value.entries()) add(each, [...path, index]);
  return { items, mistakes };
}

function toProblems(source: Source, mistakes: readonly Mistake[]): readonly FileProblem[] {
  const [first, ...more] = mistakes.slice(MOST_TOLD);
  const told = mistakes.slice(0, MOST_TOLD).map(({ message, path }) => ({
    line: lineOf(source, path),
    message: `${toFieldPath(path)}: ${message}`,
  }));
  if (first === undefined) return told;
  const message = `${1 + more.length} further mistakes begin here`;
  return [...told, { line: lineOf(source, first.path), message }];
}

function toFieldPath(path: Path): string {
  return path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${key}`))
    .join('');
}

/** Returns the line of what `path` names, or of the nearest thing around it. */
function lineOf({ document, lines }: Source, path: Path): number {
  for (let depth = path.length; depth > 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
