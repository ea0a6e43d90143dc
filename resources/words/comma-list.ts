import * as z from 'zod';
import type { Parsed } from './parsed-string.ts';

/**
 * A list of strings, each in the spelling that `parse` gives it. Like Ambassador it also accepts
 * one string with commas.
 */
export function commaList(what: string, parse: (text: string) => Parsed<string>) {
  return z
    .union([z.string(), z.array(z.string())])
    .meta({ form: `a list of ${what}, or a string with commas between them` })
    .transform((written, context): readonly string[] => {
      const texts = typeof written === 'string' ? split(written) : written;
      return texts.flatMap((text, index) => {
        const parsed = parse(text.trim());
        if ('value' in parsed) return [parsed.value];
        const path = typeof written === 'string' ? [] : [index];
        context.addIssue({ code: 'custom', message: parsed.error, path });
        return [];
      });
    });
}

function split(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(',');
}
