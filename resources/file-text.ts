import { readFileSync } from 'node:fs';
import type { FileContent } from './file-content.ts';
import { describeError } from './folder-listing.ts';

/** More than ten times what 10,000 Mappings take. */
const LONGEST = 32 * 1024 * 1024;

/** The text of a file in UTF-8 without byte order marks, or why there is none. Never throws. */
export function readText(path: string): FileContent {
  try {
    return decode(readFileSync(path));
  } catch (error) {
    return { error: describeError(error) };
  }
}

function decode(bytes: Uint8Array): FileContent {
  if (bytes.length > LONGEST) return { error: `Cannot read this: it has more than ${LONGEST} bytes` };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (text.includes('\0')) return { error: 'Cannot read this: it is a binary file' };
    // Files that were appended to one another may have a mark at each (YAML 1.2.2, rule 202 l-document-prefix).
    return { text: text.replace(/^\ufeff/gm, '') };
  } catch {
    return { error: 'Cannot read this: it is not text in UTF-8' };
  }
}
