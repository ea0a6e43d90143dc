/** A text that no terminal takes for a command, and that is seen as one. */
export function plain(text: string): string {
  return /^[\w.:/@%+~{}()-]+$/.test(text) ? text : JSON.stringify(text);
}
