/** The text of one YAML document and how many lines of the file stand before it. */
export type DocumentText = { readonly text: string; readonly linesBefore: number };

/**
 * Splits a file into its YAML documents by text alone. So only documents with a new text need
 * parsing. A line that begins with `---` or `...` followed by white space or nothing is a marker
 * wherever it stands. That holds in quoted and block scalars too (YAML 1.2.2, rule 206
 * c-forbidden), so no syntax need be known. Directives and comments before a `---` belong to the
 * document that it begins. Joined, the texts are the file.
 */
export function splitDocuments(file: string): readonly DocumentText[] {
  return file === '' ? [] : textsOf(file, findBegins(file));
}

/** Returns the texts from each of these places to the next one, and from the last to the end. */
export function textsOf(file: string, begins: readonly Place[]): readonly DocumentText[] {
  return begins.map(({ offset, line }, index) => ({
    text: file.slice(offset, begins[index + 1]?.offset),
    linesBefore: line,
  }));
}

/** Where a document begins. */
export type Place = { readonly offset: number; readonly line: number };

const BEGIN: Place = { offset: 0, line: 0 };

/** Returns where documents begin, from the begin of one up to the first one that `isLast`. */
export function findBegins(
  file: string,
  from = BEGIN,
  isLast: (offset: number) => boolean = () => false,
): readonly Place[] {
  const begins: Place[] = [from];
  let state: 'before' | 'inside' | 'ended' = 'before';
  let next = 0;
  for (let { line, offset } = from; offset < file.length; offset = next, line++) {
    next = file.indexOf('\n', offset) + 1 || file.length;
    const marker = markerAt(file, offset);
    if (state === 'ended' || (state === 'inside' && marker === '---')) {
      begins.push({ offset, line });
      if (isLast(offset)) return begins;
      state = 'before';
    }
    if (marker === '...') state = 'ended';
    else if (marker === '---' || isContent(file, offset, next)) state = 'inside';
  }
  return begins;
}

function markerAt(file: string, at: number): '---' | '...' | undefined {
  const after = file[at + 3];
  if (after !== undefined && !' \t\r\n'.includes(after)) return undefined;
  if (file.startsWith('---', at)) return '---';
  return file.startsWith('...', at) ? '...' : undefined;
}

/**
 * Whether a line before any `---` begins a bare document. It is then no blank, comment or
 * directive.
 */
function isContent(file: string, begin: number, end: number): boolean {
  const line = file.slice(begin, end).trimStart();
  return line !== '' && line[0] !== '#' && file[begin] !== '%';
}
