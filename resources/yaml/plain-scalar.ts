/** A value that was read, and the text behind it. */
export type ReadValue = { readonly value: unknown; readonly rest: string };

/** A text that may follow a value on its line. */
const NOTHING_MORE = /^ *$|^ +#/;

const QUOTED = /^(?:"([^"\\]*)"|'([^']*(?:''[^']*)*)')/;

/** No indicator of YAML is a first character, except of what is sure to be a number. */
const BLOCK_SCALAR = /^[A-Za-z0-9_/.^$(]/;
const FLOW_SCALAR = /^[A-Za-z0-9_/.^$(][\w/.^$()*+?|-]*/;
const FLOW_KEY = /^([A-Za-z_][\w./-]{0,200}): +/;

const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);
/** The library reads some of these as the words, and what others read so is warned of. */
const LIKE_WORDS = /^(?:true|false|null|y|n|yes|no|on|off|\.inf|\.nan)$/i;
const WHOLE = /^(?:0|[1-9][0-9]{0,14})$/;
/** What the library may read as a number has no other characters. */
const LIKE_NUMBER = /^[0-9.][0-9a-fox.+-]*$/i;
const SEVERAL_DOTS = /^[0-9]+\.[0-9]+\.[0-9.]*[0-9]$/;

/** Deeper values are left to the library, which has the bound. */
const DEEPEST = 16;

/**
 * Reads the value of a line in a block. Its text is printable ASCII without spaces at its begin.
 * @returns undefined when it may mean anything but this
 */
export function readInline(text: string): { readonly value: unknown } | undefined {
  if (BLOCK_SCALAR.test(text)) return readWord(withoutComment(text));
  const read = text[0] === '[' || text[0] === '{' ? readFlow(text, 0) : readQuoted(text);
  return read !== undefined && NOTHING_MORE.test(read.rest) ? read : undefined;
}

function withoutComment(text: string): string {
  const at = text.indexOf(' #');
  return (at < 0 ? text : text.slice(0, at)).trimEnd();
}

function readWord(text: string): { readonly value: unknown } | undefined {
  if (text.includes(': ') || text.endsWith(':')) return undefined;
  if (WORDS.has(text)) return { value: WORDS.get(text) };
  if (WHOLE.test(text)) return { value: Number(text) };
  if (LIKE_WORDS.test(text)) return undefined;
  if (LIKE_NUMBER.test(text) && !SEVERAL_DOTS.test(text)) return undefined;
  return { value: text };
}

function readQuoted(text: string): ReadValue | undefined {
  const found = QUOTED.exec(text);
  if (found === null) return undefined;
  const [all, double, single = ''] = found;
  return { value: double ?? single.replaceAll("''", "'"), rest: text.slice(all.length) };
}

function readFlow(text: string, depth: number): ReadValue | undefined {
  if (depth > DEEPEST) return undefined;
  if (text[0] === '[') return readList(text, depth);
  if (text[0] === '{') return readMap(text, depth);
  const found = FLOW_SCALAR.exec(text);
  if (found === null) return readQuoted(text);
  const read = readWord(found[0]);
  return read && { ...read, rest: text.slice(found[0].length) };
}

function readList(text: string, depth: number): ReadValue | undefined {
  const items: unknown[] = [];
  return readItems(text, ']', items, rest => {
    const read = readFlow(rest, depth + 1);
    if (read !== undefined) items.push(read.value);
    return read?.rest;
  });
}

function readMap(text: string, depth: number): ReadValue | undefined {
  const fields: Record<string, unknown> = {};
  return readItems(text, '}', fields, rest => {
    const [all = '', key = ''] = FLOW_KEY.exec(rest) ?? [];
    if (key === '' || key === '__proto__' || Object.hasOwn(fields, key)) return undefined;
    const read = readFlow(rest.slice(all.length), depth + 1);
    if (read !== undefined) fields[key] = read.value;
    return read?.rest;
  });
}

/** `next` takes an item at the begin of a text, and returns the text behind it. */
function readItems(
  text: string,
  end: string,
  value: unknown,
  next: (rest: string) => string | undefined,
): ReadValue | undefined {
  let rest = text.slice(1).trimStart();
  if (rest[0] === end) return { value, rest: rest.slice(1) };
  for (;;) {
    const behind = next(rest)?.trimStart();
    if (behind?.[0] === end) return { value, rest: behind.slice(1) };
    if (behind?.[0] !== ',') return undefined;
    rest = behind.slice(1).trimStart();
  }
}
