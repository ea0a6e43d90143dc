import type { FileContent } from '#resources/folder/file-content.ts';
import { KINDS } from '#resources/kinds/kinds.ts';
import { isKind } from '#resources/kinds/known-kinds.ts';
import type { Source } from '#resources/resource.ts';
import type { MetadataFact } from '#resources/schema/kind.ts';
import type { Fields } from '#resources/words/fields.ts';
import { type SplitText, splitAgain } from '#resources/yaml/split-again.ts';
import { parseDocument, parseSimple } from './parse-document.ts';
import type { Language, ParseOptions } from './parse-options.ts';
import { parseValue } from './parse-value.ts';
import { EMPTY_FILE, mergeParsed, type ParsedFile, placeParsed, problemAt } from './parsed-file.ts';
import { onceAFile } from './unread-documents.ts';

type Files = ReadonlyMap<string, FileContent>;

/** Parses all files of a source, in the order of the map. */
export type Parse = (files: Files) => readonly ParsedFile[];

/** Parsed documents by their texts, each as it stands by itself. */
export type ParsedTexts = ReadonlyMap<string, ParsedFile>;

/** The files of a source, before their documents are parsed. */
export type Round = {
  /** The texts of documents that the last round did not have. */
  readonly unseen: ReadonlySet<string>;
  /** Returns the result of the files. Parses those of `unseen` that are not in `parsed`. */
  finish(parsed?: ParsedTexts): readonly ParsedFile[];
};

/**
 * A document that was parsed before. Holds its result, as it stands by itself and where it last
 * stood.
 */
type Known = {
  readonly bare: ParsedFile;
  readonly file: string;
  readonly linesBefore: number;
  readonly placed: ParsedFile;
};

type Split = { readonly file: string } & ({ readonly error: string } | SplitText);

const EMPTY: SplitText = { text: '', documents: [] };

const NOTHING: ParsedTexts = new Map();

/**
 * Parses rounds of files and remembers the last round. A document with the same text and place
 * gives the very same objects. One that only moved is not parsed again. What the last round did not
 * have is forgotten.
 */
export class Parser {
  readonly options: ParseOptions;
  readonly #language: Language;
  #known: ReadonlyMap<string, Known> = new Map();
  /** The files of the last round. */
  #split: ReadonlyMap<string, Split> = new Map();

  constructor(options: ParseOptions) {
    this.options = options;
    this.#language = { ...options, kinds: KINDS };
  }

  /**
   * Parses a document that is already a value, and remembers nothing of it.
   * @throws RangeError when nesting exhausts the stack
   */
  value(document: Fields, source: Source): ParsedFile {
    return parseValue(document, source, this.#language);
  }

  /**
   * Parses the text of one document and remembers nothing of it.
   * @returns undefined when it would take much longer than most documents of its length
   */
  simple(text: string): ParsedFile | undefined {
    return parseSimple(text, this.#language);
  }

  /** Returns the facts of `metadata` that count for this kind. */
  facts(kind: string): readonly MetadataFact[] {
    return isKind(kind) ? (this.#language.kinds[kind].metadata ?? []) : [];
  }

  /** Begins a round. It must be finished before the next one begins. */
  begin(files: Files): Round {
    const split = [...files].map(([file, content]) =>
      splitFile(file, content, this.#split.get(file)),
    );
    this.#split = new Map(split.map(each => [each.file, each]));
    const texts = split.flatMap(file =>
      'error' in file ? [] : file.documents.map(({ text }) => text),
    );
    const unseen = new Set(texts.filter(text => !this.#known.has(text)));
    return { unseen, finish: (parsed = NOTHING) => this.#finish(split, parsed) };
  }

  #finish(split: readonly Split[], parsed: ParsedTexts): readonly ParsedFile[] {
    const next = new Map<string, Known>();
    const placed = split.map(content => {
      const { file } = content;
      if ('error' in content) return unreadable(file, content.error);
      if (content.text === '') return { ...EMPTY_FILE, file, anonymous: true, emptied: true };
      const documents = content.documents.map(({ text, linesBefore }) => {
        const known = this.#known.get(text) ?? next.get(text);
        const bare = known?.bare ?? parsed.get(text) ?? parseDocument(text, this.#language);
        const document = placeKnown(known, bare, file, linesBefore);
        next.set(text, document);
        return document.placed;
      });
      const merged = mergeParsed(file, documents);
      return { ...merged, problems: onceAFile(merged.problems) };
    });
    this.#known = next;
    return placed;
  }
}

/** Creates a parser that parses each round at once. */
export function createParser(options: ParseOptions): Parse {
  const parser = new Parser(options);
  return files => parser.begin(files).finish();
}

/** Parses one file by itself. Never throws. */
export function parseFile(file: string, text: string, options: ParseOptions): ParsedFile {
  return mergeParsed(file, createParser(options)(new Map([[file, { text }]])));
}

function splitFile(file: string, content: FileContent, last: Split | undefined): Split {
  if ('error' in content) return { file, ...content };
  const before = last === undefined || 'error' in last ? EMPTY : last;
  const { text } = content;
  return { file, text, documents: splitAgain(text, before) };
}

function placeKnown(
  known: Known | undefined,
  bare: ParsedFile,
  file: string,
  linesBefore: number,
): Known {
  if (known?.file === file && known.linesBefore === linesBefore) return known;
  return { bare, file, linesBefore, placed: placeParsed(bare, file, linesBefore) };
}

function unreadable(file: string, message: string): ParsedFile {
  return { ...EMPTY_FILE, file, problems: [{ ...problemAt(1, message), file }], readable: false };
}
