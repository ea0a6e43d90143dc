import { access, chmod, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isFields } from '#resources/words/fields.ts';
import { makeStateFolder } from './state-folder.ts';

/** One document of the operator as it was last accepted, and its place. */
export type LastGood = {
  readonly file: string;
  /** What an earlier version stored has none. */
  readonly line?: number;
  readonly document: unknown;
};

/**
 * Stores the last good documents in one file (0600) so that they survive a restart. Secrets are
 * never given to it. `write` is atomic and durable: a crash or a full disk leaves the former
 * content. It makes a deleted folder again.
 */
export type LastGoodStore = {
  /**
   * Returns the stored documents, none when nothing was ever stored. Throws when the file exists
   * but cannot be read or parsed.
   */
  read(): Promise<readonly LastGood[]>;
  write(documents: readonly LastGood[]): Promise<void>;
  /** Returns whether there is anything to read. */
  isThere(): Promise<boolean>;
};

export function fileLastGoodStore(path: string): LastGoodStore {
  const texts = new WeakMap<object, string>();
  return {
    read: () => readDocuments(path),
    write: async documents =>
      writeDocuments(
        path,
        documents.map(each => textOf(each, texts)),
      ),
    isThere: () =>
      access(path).then(
        () => true,
        () => false,
      ),
  };
}

async function readDocuments(path: string): Promise<readonly LastGood[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const parsed: unknown = JSON.parse(text);
  if (!Array.isArray(parsed) || !parsed.every(isLastGood))
    throw new Error(`${path}: not a list of documents`);
  return parsed;
}

function isLastGood(value: unknown): value is LastGood {
  return isFields(value) && typeof value.file === 'string';
}

/** An edit changes few of many documents. */
function textOf({ document, ...place }: LastGood, known: WeakMap<object, string>): string {
  const text = known.get(Object(document)) ?? JSON.stringify(document);
  known.set(Object(document), text);
  return `${JSON.stringify(place).slice(0, -1)},"document":${text}}`;
}

async function writeDocuments(path: string, documents: readonly string[]): Promise<void> {
  const temporary = `${path}.new`;
  makeStateFolder(dirname(path));
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(`[${documents.join(',')}]`);
    await file.sync();
  } finally {
    await file.close();
  }
  await chmod(temporary, 0o600);
  await rename(temporary, path);
}
