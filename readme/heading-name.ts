/** Returns the name of a heading in a link, `#rate-limits`, as GitHub makes it. */
export function headingName(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
