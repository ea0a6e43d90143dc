/** The text of a file, or why it could not be read. */
export type FileContent = { readonly text: string } | { readonly error: string };
