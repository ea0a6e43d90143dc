/** The text of one YAML document and how many lines of the file stand before it. */
export type DocumentText = { readonly text: string; readonly linesBefore: number };

/**
 * Splits a file into its YAML documents by text alone, so that only documents with a text not seen before need parsing.
 * In YAML a line that begins with `---` or `...` followed by white space or nothing is a marker wherever it stands,
 * in quoted and block scalars too (YAML 1.2.2, rule 206 c-forbidden), so no syntax need be known.
 * Directives and comments before a `---` belong to the document that it begins. Joined, the texts are the file.
 */
export function splitDocuments(file: string): readonly DocumentText[] {
  const documents: DocumentText[] = [];
  let begin = 0;
  let linesBefore = 0;
  let started = false;
  let line = 0;
  for (let at = 0; at < file.length; line++) {
    const newline = file.indexOf('\n', at);
    const next = newline === -1 ? file.length : newline + 1;
    const marker = markerAt(file, at);
    if (marker === '---' && started) {
      documents.push({ text: file.slice(begin, at), linesBefore });
      begin = at;
      linesBefore = line;
    }
    started = marker === '---' || (marker !== '...' && (started || isContent(file, at, next)));
    if (marker === '...') {
      documents.push({ text: file.slice(begin, next), linesBefore });
      begin = next;
      linesBefore = line + 1;
    }
    at = next;
  }
  if (begin < file.length) documents.push({ text: file.slice(begin), linesBefore });
  return documents;
}

function markerAt(file: string, at: number): '---' | '...' | undefined {
  const after = file[at + 3];
  if (after !== undefined && !' \t\r\n'.includes(after)) return undefined;
  if (file.startsWith('---', at)) return '---';
  return file.startsWith('...', at) ? '...' : undefined;
}

/** Whether a line before any `---` begins a bare document: it is no blank, comment or directive. */
function isContent(file: string, begin: number, end: number): boolean {
  const line = file.slice(begin, end).trimStart();
  return line !== '' && line[0] !== '#' && file[begin] !== '%';
}
