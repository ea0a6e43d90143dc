import type { Readable } from 'node:stream';

/**
 * Calls `hear` with each line of UTF-8, and at the end with what is left. A line ends at a line
 * feed alone. Node's readline also ends it at U+2028 and U+2029, which JSON may hold as they are
 * (RFC 8259 section 7). A client with one in its `User-Agent` would write lines of its own.
 */
export function hearLines(stream: Readable, hear: (line: string) => void): void {
  let begun = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    const [first = '', ...others] = text.split('\n');
    begun += first;
    for (const next of others) {
      hear(begun);
      begun = next;
    }
  });
  stream.on('end', () => {
    if (begun !== '') hear(begun);
  });
}
