import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { Parsed } from './parsed-string.ts';

/**
 * The largest program of a regular expression, in RE2's instructions: some 1,000 characters, or a repetition `{1000}`.
 * Envoy by itself refuses more than 100 (runtime key `re2.max_program_size.error_level`), so the bootstrap must raise that.
 */
const LARGEST_PROGRAM = 1000;
const LONGEST = 4096;
const LONGEST_SHOWN = 80;

/** A regular expression in RE2's syntax that Envoy accepts; `\C` is none. */
export function parseRe2(text: string): Parsed<string> {
  if (text.length > LONGEST) return fail(text, `it has ${text.length} characters, ${LONGEST} are allowed`);
  try {
    const size = RE2JS.compile(text).programSize();
    if (size <= LARGEST_PROGRAM) return { value: text };
    return fail(
      text,
      `it compiles to ${size} instructions, ${LARGEST_PROGRAM} are allowed; shorten it or its repetitions`,
    );
  } catch (error) {
    if (error instanceof RE2JSSyntaxException)
      return fail(text, error.message.replace('error parsing regexp: ', ''));
    throw error;
  }
}

function fail(text: string, reason: string): Parsed<never> {
  return {
    error: `Cannot parse regular expression ${JSON.stringify(text.slice(0, LONGEST_SHOWN))}: ${reason}`,
  };
}
