import * as z from 'zod';

/** A list of at most so many items. `what` are they in the words for a wrong list. */
export function listOf<Item extends z.ZodType>(most: number, item: Item, what: string) {
  return z
    .array(item)
    .max(most)
    .meta({ form: `a list of at most ${most} ${what}` });
}

/** A list of one item or more. */
export function someOf<Item extends z.ZodType>(most: number, item: Item, what: string) {
  return z
    .array(item)
    .min(1)
    .max(most)
    .meta({ form: `a list of 1 to ${most} ${what}` });
}

export function textUpTo(most: number) {
  return z
    .string()
    .max(most)
    .meta({ form: `a text of at most ${most} characters` });
}
