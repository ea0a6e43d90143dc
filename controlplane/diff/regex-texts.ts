import { matchesRe2 } from '#resources/match/re2.ts';

/** Escapes, classes, groups, repetitions, and single characters. */
const TOKENS = /\\.|\[\^?\]?[^\]]*\]|\(\?[\w<>-]*[:)]?|\{\d+(?:,\d*)?\}|./gs;
const CLASSES: Readonly<Record<string, string>> = { d: '0', w: 'a', s: ' ' };

/** The longest text, since a repetition may be of thousands. */
const LONGEST = 1_000;

/**
 * Returns short texts that an expression matches, one for each of its alternatives. It reads the
 * plain parts of the syntax, so of an intricate expression there may be none.
 */
export function regexTexts(regex: string): readonly string[] {
  const texts = [regex, ...regex.split('|')].map(textOf);
  return [...new Set(texts)].filter(text => text !== '' && matchesRe2(regex, text));
}

function textOf(regex: string): string {
  let text = '';
  for (const [token] of regex.matchAll(TOKENS)) {
    const last = text.at(-1) ?? '';
    if (text.length > LONGEST) return '';
    if (/^\{\d/.test(token)) text += last.repeat(Math.min(LONGEST, leastOf(token) - 1));
    else if (!/^(?:\(.*|[)^$*+?])$/s.test(token)) text += characterOf(token);
  }
  return text;
}

function leastOf(repetition: string): number {
  return Math.max(1, Number.parseInt(repetition.slice(1), 10));
}

/** Returns a character that a part of an expression matches. */
function characterOf(token: string): string {
  if (token === '.') return 'a';
  if (token.startsWith('\\')) return CLASSES[token.slice(1)] ?? token.slice(1);
  if (!token.startsWith('[') || token.length === 1) return token;
  const inner = token.slice(1, -1);
  if (inner.startsWith('^')) return [...'a0-_'].find(char => !inner.includes(char)) ?? '';
  return inner.startsWith('\\') ? characterOf(inner.slice(0, 2)) : inner.charAt(0);
}
