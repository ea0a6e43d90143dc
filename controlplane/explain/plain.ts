/** Escapes a text so that a terminal shows it and runs none of it. */
export function plain(text: string): string {
  return /^[\w.:/@%+~{}()-]+$/.test(text) ? text : JSON.stringify(text);
}
