import { type DocumentText, findBegins, type Place, textsOf } from './document-text.ts';

/** A file that was split. */
export type SplitText = { readonly text: string; readonly documents: readonly DocumentText[] };

/** A marker is known by the character behind it. */
const MARKER_LENGTH = '--- '.length;

/** Texts are compared in parts of this length, which is much faster than by character. */
const COMPARED_AT_ONCE = 4096;

/**
 * Splits a file (splitDocuments) of which an earlier text was split. Documents before the first
 * difference and after the last one are the very same texts, and are not looked at again.
 */
export function splitAgain(file: string, before: SplitText): readonly DocumentText[] {
  const { documents, text } = before;
  if (file === text) return documents;
  const same = commonStart(text, file);
  const head = documentsWithin(documents, same - MARKER_LENGTH);
  const from = {
    offset: head.reduce((sum, each) => sum + each.text.length, 0),
    line: documents[head.length]?.linesBefore ?? 0,
  };
  const tail = tailOf(documents, commonEnd(text, file, same), file.length);
  const begins = file === '' ? [] : findBegins(file, from, offset => tail.has(offset));
  const last = begins.at(-1);
  const kept = last === undefined ? undefined : tail.get(last.offset);
  const found = textsOf(file, begins).map(apart);
  if (last === undefined || kept === undefined) return [...head, ...found];
  return [...head, ...found.slice(0, -1), ...movedTo(last, documents.slice(kept))];
}

/** Returns the first documents that end within so many characters, but never all of them. */
function documentsWithin(
  documents: readonly DocumentText[],
  length: number,
): readonly DocumentText[] {
  let end = 0;
  const first = documents.findIndex(({ text }) => {
    end += text.length;
    return end > length;
  });
  return documents.slice(0, Math.max(first, 0));
}

/**
 * Returns the documents that begin within the last `length` characters, by where they begin in a
 * file of `size` characters that ends alike.
 */
function tailOf(
  documents: readonly DocumentText[],
  length: number,
  size: number,
): ReadonlyMap<number, number> {
  const begins = new Map<number, number>();
  let behind = 0;
  for (let index = documents.length - 1; index > 0; index -= 1) {
    behind += documents[index]?.text.length ?? 0;
    if (behind > length) break;
    begins.set(size - behind, index);
  }
  return begins;
}

function movedTo({ line }: Place, documents: readonly DocumentText[]): readonly DocumentText[] {
  const moved = line - (documents[0]?.linesBefore ?? 0);
  if (moved === 0) return documents;
  return documents.map(({ linesBefore, text }) => ({ text, linesBefore: linesBefore + moved }));
}

/** A slice would keep the whole file in memory for as long as its text is known. */
function apart({ linesBefore, text }: DocumentText): DocumentText {
  return { text: ` ${text}`.slice(1), linesBefore };
}

function commonStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  const part = (text: string) => text.slice(at, at + COMPARED_AT_ONCE);
  while (at + COMPARED_AT_ONCE <= most && part(a) === part(b)) at += COMPARED_AT_ONCE;
  while (at < most && a[at] === b[at]) at += 1;
  return at;
}

/** Returns the length of the common end that does not reach into the common start. */
function commonEnd(a: string, b: string, start: number): number {
  const most = Math.min(a.length, b.length) - start;
  let at = 0;
  const part = (text: string) => text.slice(text.length - at - COMPARED_AT_ONCE, text.length - at);
  while (at + COMPARED_AT_ONCE <= most && part(a) === part(b)) at += COMPARED_AT_ONCE;
  while (at < most && a[a.length - 1 - at] === b[b.length - 1 - at]) at += 1;
  return at;
}
