/** Returns a text as one word of a POSIX shell, for a command that people copy or a script. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
