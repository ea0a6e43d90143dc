import * as z from 'zod';
import { listOf } from './bounded.ts';
import { tokenName } from './names.ts';
import { checkUnique } from './rules.ts';

/** Value of a header: visible ASCII, with single blanks between. */
export const headerValue = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[!-~]+([\t ]?[!-~]+)*$/)
  .meta({ form: 'text of visible ASCII characters, with single blanks between them' });

const header = z.object({
  name: tokenName.describe('Name of the header'),
  value: headerValue.describe('Its value'),
});

/**
 * A list in which names are unique. Names that differ only in letter case are one header, and the
 * first of them counts.
 */
export function headerList<Item extends z.ZodType<{ name: string }>>(item: Item) {
  return listOf(16, item, 'headers')
    .check(checkUnique<{ name: string }>(({ name }) => name, 'a header of this name'))
    .transform(firstOfName<z.output<Item>>)
    .default([]);
}

const headers = headerList(header);

/** Returns the items without those whose name stands before them in any letter case. */
function firstOfName<T extends { readonly name: string }>(items: readonly T[]): T[] {
  const names = items.map(({ name }) => name.toLowerCase());
  return items.filter((_, index) => names.indexOf(names[index] ?? '') === index);
}

/** Changes of the headers of requests or of responses. */
export const headerModifier = z.object({
  set: headers.describe('Headers that get this value alone'),
  add: headers.describe('Headers that get this value beside those they have'),
  remove: listOf(16, z.string(), 'names')
    .check(checkUnique(name => name, 'this name'))
    .default([])
    .describe('Names of headers that are removed, in any letter case'),
});

export type HeaderModifier = z.output<typeof headerModifier>;
