import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { PRODUCT_VERSION } from './product-version.ts';
import { replaceFile } from './write-durably.ts';

/** Which version has used a state folder last, and the format of what is in it. */
export type StateMark = { readonly format: number; readonly version: string };

/** It grows when a version writes into the folder what the one before it would misread. */
const FORMAT = 1;
const FILE = 'version.json';

/**
 * Reads the mark of a state folder.
 * @returns undefined when no version that marks has used the folder
 * @throws an Error that says what to do when a newer version has written what this one would
 *   misread, or when the mark is damaged. Else the system's error
 */
export function checkState(folder: string): StateMark | undefined {
  const path = join(folder, FILE);
  const mark = parseMark(readIfThere(path));
  if (mark === 'damaged')
    throw new Error(
      `${path} is damaged, so it is not known which version has used this folder: put its backup back, or remove this file if no newer version has`,
    );
  if (mark !== undefined && mark.format > FORMAT)
    throw new Error(
      `${folder} was written by version ${mark.version} in format ${mark.format}, and version ${PRODUCT_VERSION} reads format ${FORMAT}: start version ${mark.version} again, or put a backup of this folder back. Nothing was changed`,
    );
  return mark;
}

/**
 * Marks a state folder with this version, and makes it when it is missing.
 * @throws what `checkState` throws. Then nothing is written
 */
export function markState(folder: string): void {
  const mark = checkState(folder);
  if (mark?.format === FORMAT && mark.version === PRODUCT_VERSION) return;
  makeFolder(folder);
  const next: StateMark = { format: FORMAT, version: PRODUCT_VERSION };
  replaceFile(join(folder, FILE), `${JSON.stringify(next)}\n`);
}

function parseMark(text: string | undefined): StateMark | 'damaged' | undefined {
  if (text === undefined) return undefined;
  try {
    const { format, version } = Object(JSON.parse(text)) as Readonly<Record<string, unknown>>;
    const isMark = Number.isSafeInteger(format) && typeof version === 'string';
    return isMark ? { format: Number(format), version: version.slice(0, 100) } : 'damaged';
  } catch {
    return 'damaged';
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
