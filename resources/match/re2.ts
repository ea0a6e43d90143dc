import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { Parsed } from '#resources/words/parsed-string.ts';

/**
 * The largest program of a regular expression, in RE2's instructions. That is about 1,000
 * characters, or a repetition `{1000}`. By default Envoy rejects more than 100 (runtime key
 * `re2.max_program_size.error_level`), so the bootstrap must raise that.
 */
const LARGEST_PROGRAM = 1000;
const LONGEST = 4096;
const LONGEST_SHOWN = 80;

/**
 * Parses a regular expression in RE2's syntax that Envoy accepts. It compares bytes, and `\C` is
 * not allowed.
 */
export function parseRe2(text: string): Parsed<string> {
  try {
    const why = whyTooMuch(text);
    return why === undefined ? { value: text } : fail(text, why);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException)
      return fail(text, error.message.replace('error parsing regexp: ', ''));
    throw error;
  }
}

/**
 * Explains why Envoy would reject an expression. Nothing of the expression is in the words.
 * @returns undefined when Envoy accepts it
 */
export function whyNoRe2(text: string): string | undefined {
  try {
    return whyTooMuch(text);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return error.error;
    throw error;
  }
}

/** @throws RE2JSSyntaxException when the syntax is wrong */
function whyTooMuch(text: string): string | undefined {
  if (text.length > LONGEST) return `it has ${text.length} characters, ${LONGEST} are allowed`;
  const wide = findWideEscape(text);
  if (wide !== undefined) return `${wide} is above \\x{FF}. Bytes are compared`;
  const size = RE2JS.compile(text).programSize();
  if (size <= LARGEST_PROGRAM) return undefined;
  return `it compiles to ${size} instructions, ${LARGEST_PROGRAM} are allowed. Shorten it or its repetitions`;
}

/** Finds an escape for a character above one byte, which Envoy rejects. */
function findWideEscape(text: string): string | undefined {
  const escapes = text.matchAll(/\\(?:x\{([0-9a-f]+)\}|([0-7]{1,3})|.)/gis);
  return escapes.find(
    ([, hex = '0', octal = '0']) =>
      Number.parseInt(hex, 16) > 0xff || Number.parseInt(octal, 8) > 0xff,
  )?.[0];
}

function fail(text: string, reason: string): Parsed<never> {
  return {
    error: `Cannot parse regular expression ${JSON.stringify(text.slice(0, LONGEST_SHOWN))}: ${reason}`,
  };
}

/**
 * Whether an expression, which `parseRe2` accepted, matches a whole text, as Envoy's `safe_regex`
 * does. It serves explanations, since Envoy itself is faster.
 */
export function matchesRe2(expression: string, text: string): boolean {
  return compiled(expression).testExact(text);
}

/** A comparison asks the same few expressions about many texts, and compiling costs the most. */
const MOST_COMPILED = 100;
const compiledBefore = new Map<string, RE2JS>();

function compiled(expression: string): RE2JS {
  const known = compiledBefore.get(expression);
  if (known !== undefined) return known;
  if (compiledBefore.size === MOST_COMPILED) compiledBefore.clear();
  const made = RE2JS.compile(expression);
  compiledBefore.set(expression, made);
  return made;
}
