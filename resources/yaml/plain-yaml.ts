import type { FieldPath } from '#resources/finding.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';
import { readInline } from './plain-scalar.ts';

/** A document that was read, and the line of a field of it, from 1 (`lineFinder`). */
export type PlainYaml = {
  readonly value: Fields;
  readonly lineOf: (path: FieldPath) => number;
};

/** A value and its lines: those of its fields or items, where they are on lines of their own. */
type Node = {
  readonly value: unknown;
  readonly line: number;
  readonly below?: ReadonlyMap<string | number, Node>;
};

/** A line with content. `indent` changes as what stands before its content is read. */
type Line = { indent: number; content: string; readonly number: number };

type Lines = { readonly lines: readonly Line[]; at: number };

const SIMPLE = /^[\n\x20-\x7e]*$/;
const ENTRY = /^([A-Za-z_][\w./-]{0,200}):(?: +(.*))?$/;
const ITEM = /^- +(?=[^ ])/;

/** Deeper values are left to the library, which has the bound. */
const DEEPEST = 32;

/**
 * Reads a document of the simple sort that most are: printable ASCII, maps and lists in blocks,
 * values that stand on one line. It takes a fraction of the time of `readYaml`, and returns the
 * very same value and lines.
 * @returns undefined when the document has anything else, or an error, or a key twice
 */
export function readPlainYaml(text: string): PlainYaml | undefined {
  if (!SIMPLE.test(text)) return undefined;
  const lines = { lines: linesOf(text), at: 0 };
  const root = lines.lines[0]?.indent === 0 ? readMap(lines, 0, 0) : undefined;
  if (root === undefined || lines.at < lines.lines.length || !isFields(root.value))
    return undefined;
  return { value: root.value, lineOf: path => lineOf(root, path) };
}

/** Returns the lines with content. The marker of a document is none where it may stand. */
function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  let isMarked = false;
  for (const [index, line] of text.split('\n').entries()) {
    const content = line.trim();
    if (content === '' || content[0] === '#') continue;
    if (lines.length === 0 && !isMarked && line === '---') isMarked = true;
    else lines.push({ indent: line.search(/[^ ]/), content, number: index + 1 });
  }
  return lines;
}

/** Reads the map whose keys have this indentation. */
function readMap(lines: Lines, indent: number, depth: number): Node | undefined {
  const fields: Record<string, unknown> = {};
  const below = new Map<string, Node>();
  const line = lines.lines[lines.at]?.number ?? 0;
  if (depth > DEEPEST) return undefined;
  for (let at = lines.lines[lines.at]; at?.indent === indent; at = lines.lines[lines.at]) {
    const found = ENTRY.exec(at.content);
    if (found === null) break;
    const [, key = '', text = ''] = found;
    if (key === '__proto__' || below.has(key)) return undefined;
    lines.at += 1;
    const node = readField(lines, text, at, depth);
    if (node === undefined) return undefined;
    fields[key] = node.value;
    below.set(key, node);
  }
  return below.size === 0 ? undefined : { value: fields, line, below };
}

/** Reads the value of a key, which stands behind it or below it. */
function readField(lines: Lines, text: string, key: Line, depth: number): Node | undefined {
  const line = key.number;
  if (text !== '' && text[0] !== '#') {
    const read = readInline(text);
    return read && inLine(read.value, line);
  }
  const next = lines.lines[lines.at];
  if (next === undefined || next.indent < key.indent) return { value: null, line };
  const isList = ITEM.test(next.content);
  if (next.indent === key.indent && !isList) return { value: null, line };
  const node = (isList ? readList : readMap)(lines, next.indent, depth + 1);
  return node && { ...node, line };
}

/** Reads the list whose items have this indentation. */
function readList(lines: Lines, indent: number, depth: number): Node | undefined {
  const items: unknown[] = [];
  const below = new Map<number, Node>();
  if (depth > DEEPEST) return undefined;
  for (let at = lines.lines[lines.at]; at?.indent === indent; at = lines.lines[lines.at]) {
    const [marker] = ITEM.exec(at.content) ?? [];
    if (marker === undefined) break;
    const node = readItem(lines, at, marker.length, depth);
    if (node === undefined) return undefined;
    below.set(items.length, node);
    items.push(node.value);
  }
  return { value: items, line: 0, below };
}

function readItem(lines: Lines, at: Line, marker: number, depth: number): Node | undefined {
  const { content, indent, number } = at;
  const text = content.slice(marker);
  if (ENTRY.test(text)) {
    at.content = text;
    at.indent = indent + marker;
    return readMap(lines, at.indent, depth + 1);
  }
  lines.at += 1;
  const read = readInline(text);
  return read && inLine(read.value, number);
}

function inLine(value: unknown, line: number): Node {
  if (typeof value !== 'object' || value === null) return { value, line };
  const parts = Array.isArray(value) ? value.entries() : Object.entries(value);
  return {
    value,
    line,
    below: new Map([...parts].map(([key, part]) => [key, inLine(part, line)])),
  };
}

/** A missing field has the line of the nearest existing field above it. */
function lineOf(root: Node, path: FieldPath): number {
  let node = root;
  for (const step of path) {
    const next = stepInto(node, step);
    if (next === undefined) break;
    node = next;
  }
  return node.line;
}

function stepInto({ below, value }: Node, step: string | number): Node | undefined {
  // A map may be read as a list of its pairs (`repeated-labels.ts`).
  if (typeof step === 'number' && !Array.isArray(value)) return [...(below?.values() ?? [])][step];
  return below?.get(step);
}
