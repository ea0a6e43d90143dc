import * as z from 'zod';

/** The result of a parser of one string: the value, or what is wrong in plain words. */
export type Parsed<T> = { readonly value: T } | { readonly error: string };

/**
 * Returns a schema for a string that `parse` turns into a value. `form` says what a right one looks
 * like.
 */
export function parsedString<T>(form: string, parse: (text: string) => Parsed<T>) {
  return z
    .string()
    .meta({ form })
    .transform((text, context): T => {
      const parsed = parse(text);
      if ('value' in parsed) return parsed.value;
      context.addIssue({ code: 'custom', message: parsed.error });
      return z.NEVER;
    });
}

/** Returns a schema for a string that stays a string, in the spelling that `parse` gives it. */
export function checkedString(form: string, parse: (text: string) => Parsed<string>) {
  return z.string().check(checkWith(parse)).meta({ form });
}

/** Returns a check of a string schema. The string gets the spelling that `parse` gives it. */
export function checkWith(parse: (text: string) => Parsed<string>): z.core.CheckFn<string> {
  return context => {
    const parsed = parse(context.value);
    if ('value' in parsed) context.value = parsed.value;
    else context.issues.push({ code: 'custom', message: parsed.error, input: context.value });
  };
}
