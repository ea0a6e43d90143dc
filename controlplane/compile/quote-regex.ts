/** Returns an RE2 expression for exactly this text. */
export function quoteRegex(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}
