/**
 * Cuts what a peer said to `most` characters, for logs and status. Returns a copy, because a slice
 * would keep all of the text in memory, which may be megabytes.
 */
export function cutText(text: string, most: number): string {
  return text.length <= most ? text : Buffer.from(text.slice(0, most).toWellFormed()).toString();
}
