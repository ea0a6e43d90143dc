import { splitDocuments } from './document-text.ts';
import type { FileContent } from './file-content.ts';
import { parseDocument } from './parse-document.ts';
import type { ParseOptions } from './parse-options.ts';
import { EMPTY_FILE, mergeParsed, type ParsedFile, placeParsed } from './parsed-file.ts';

/** Parses all files of a source, in the order of the map. */
export type Parse = (files: ReadonlyMap<string, FileContent>) => readonly ParsedFile[];

/** A document that was parsed before: as it stands by itself, and where it last stood. */
type Known = {
  readonly bare: ParsedFile;
  readonly file: string;
  readonly linesBefore: number;
  readonly placed: ParsedFile;
};

/**
 * A parser that remembers what it parsed in the last round: a document whose text and place did not change gives the
 * very same objects, one that only moved is not parsed again. It forgets what the last round did not have.
 */
export function createParser(options: ParseOptions): Parse {
  let known: ReadonlyMap<string, Known> = new Map();
  return files => {
    const next = new Map<string, Known>();
    const parsed = [...files].map(([file, content]) => {
      if ('error' in content) return unreadable(file, content.error);
      const documents = splitDocuments(content.text).map(({ text, linesBefore }) => {
        const document = placeKnown(known.get(text) ?? next.get(text), text, file, linesBefore, options);
        next.set(text, document);
        return document.placed;
      });
      return mergeParsed(file, documents);
    });
    known = next;
    return parsed;
  };
}

/** Parses one file by itself. Never throws. */
export function parseFile(file: string, text: string, options: ParseOptions): ParsedFile {
  return mergeParsed(file, createParser(options)(new Map([[file, { text }]])));
}

function placeKnown(
  known: Known | undefined,
  text: string,
  file: string,
  linesBefore: number,
  options: ParseOptions,
): Known {
  if (known?.file === file && known.linesBefore === linesBefore) return known;
  const bare = known?.bare ?? parseDocument(text, options);
  return { bare, file, linesBefore, placed: placeParsed(bare, file, linesBefore) };
}

function unreadable(file: string, message: string): ParsedFile {
  const problem = { severity: 'error', kind: '', namespace: '', name: '', file, line: 1, message } as const;
  return { ...EMPTY_FILE, file, problems: [problem], readable: false };
}
