import { readFileSync, statSync } from 'node:fs';
import type { FileContent } from './file-content.ts';
import { describeError } from './folder-listing.ts';
import { LONGEST_FILE } from './longest-file.ts';

const TOO_LONG: FileContent = { error: `Cannot read this: it has more than ${LONGEST_FILE} bytes` };

/**
 * Reads a file in UTF-8 without byte order marks, or returns why there is no text. Never throws.
 */
export function readText(path: string): FileContent {
  try {
    return statSync(path).size > LONGEST_FILE ? TOO_LONG : decode(readFileSync(path));
  } catch (error) {
    return { error: describeError(error) };
  }
}

function decode(bytes: Uint8Array): FileContent {
  if (bytes.length > LONGEST_FILE) return TOO_LONG;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (text.includes('\0')) return { error: 'Cannot read this: it is a binary file' };
    // Files that were appended to one another may have a mark at each (YAML 1.2.2, rule 202
    // l-document-prefix).
    return { text: text.replace(/^\ufeff/gm, '') };
  } catch {
    return { error: 'Cannot read this: it is not text in UTF-8' };
  }
}
