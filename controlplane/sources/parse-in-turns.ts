import { setImmediate } from 'node:timers/promises';
import type { Parser } from '#resources/parse/parse.ts';
import type { ParsedFile } from '#resources/parse/parsed-file.ts';

/** A turn of parsing, in ms. Then everything else has its turn. */
const TURN_MS = 10;

/** What was parsed of some texts, and the texts that are left. */
export type ParsedInTurns = {
  readonly parsed: ReadonlyMap<string, ParsedFile>;
  readonly left: readonly string[];
};

/**
 * Parses documents that are simple and not longer than this, while everything else goes on. A
 * thread would have to be started, which takes as long as thousands of them, and much memory.
 * Returns early when `isOver`.
 */
export async function parseInTurns(
  texts: Iterable<string>,
  parser: Parser,
  longest: number,
  isOver: () => boolean,
): Promise<ParsedInTurns> {
  const parsed = new Map<string, ParsedFile>();
  const left: string[] = [];
  let begun = performance.now();
  for (const text of texts) {
    if (performance.now() - begun > TURN_MS) {
      await setImmediate();
      if (isOver()) break;
      begun = performance.now();
    }
    const file = text.length > longest ? undefined : parser.simple(text);
    if (file === undefined) left.push(text);
    else parsed.set(text, file);
  }
  return { parsed, left };
}
