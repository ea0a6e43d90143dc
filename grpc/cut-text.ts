/**
 * Cuts what a peer said to so many characters, for logs and status. The result is a copy: a slice
 * would keep all of the text in memory, which may be megabytes.
 */
export function cutText(text: string, most: number): string {
  return text.length <= most ? text : Buffer.from(text.slice(0, most).toWellFormed()).toString();
}
