import { readFileSync } from 'node:fs';
import type { FileContent } from './file-content.ts';
import { describeError } from './folder-listing.ts';

/** More than ten times what 10,000 Mappings take. */
const LONGEST = 32 * 1024 * 1024;

/** The text of a file in UTF-8, without byte order mark, or why there is none. Never throws. */
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
    return text.includes('\0') ? { error: 'Cannot read this: it is a binary file' } : { text };
  } catch {
    return { error: 'Cannot read this: it is not text in UTF-8' };
  }
}
