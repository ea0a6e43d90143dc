/** A schema of draft 7 (json-schema.org), as editors read it. */
export type JsonSchema = { readonly [keyword: string]: unknown };

export const DRAFT = 'http://json-schema.org/draft-07/schema#';
