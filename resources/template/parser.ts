import type { List } from './nodes.ts';
import { quote } from './quote.ts';
import { isKeyword, type Token } from './token.ts';

/** How deep parentheses and control structures may nest. */
export const MAX_NESTING = 200;

/**
 * A text while it is parsed. `at` is the next token, and `furthest` the first one that was never
 * read.
 */
export type Parser = {
  readonly tokens: readonly Token[];
  /** The functions that it may call. */
  readonly functions: ReadonlySet<string>;
  readonly trees: Map<string, List>;
  at: number;
  furthest: number;
  nesting: number;
};

/**
 * The state of one definition: its variables, the loops around, and the line where the current
 * action began (0 for none).
 */
export type Scope = { readonly variables: string[]; ranges: number; actionLine: number };

/** Why a text is no template, in Go's words. */
export class ParseError extends Error {
  override readonly name = 'ParseError';
}

const LONGEST_SHOWN = 10;

const END: Token = { type: 'eof', text: '', pos: 0, line: 1 };

export function scopeOf(): Scope {
  return { variables: ['$'], ranges: 0, actionLine: 0 };
}

export function next(parser: Parser): Token {
  const token = peek(parser);
  parser.at++;
  return token;
}

/** Returns the next token and stays before it. */
export function peek(parser: Parser): Token {
  parser.furthest = Math.max(parser.furthest, parser.at + 1);
  return parser.tokens[parser.at] ?? parser.tokens.at(-1) ?? END;
}

/** Reads the next token that is no space. */
export function nextNonSpace(parser: Parser): Token {
  let token = next(parser);
  while (token.type === 'space') token = next(parser);
  return token;
}

/** Returns the next token that is no space, and stays before it. */
export function peekNonSpace(parser: Parser): Token {
  const token = nextNonSpace(parser);
  backUp(parser);
  return token;
}

/** Goes back one token. */
export function backUp(parser: Parser): void {
  parser.at--;
}

/** Ends the parsing. The line is that of the last token read. */
export function fail(parser: Parser, reason: string): never {
  const index = Math.min(parser.furthest, parser.tokens.length) - 1;
  throw new ParseError(`template: :${parser.tokens[index]?.line ?? 1}: ${reason}`);
}

/** Ends the parsing at a token that may not stand in `context`. */
export function unexpected(parser: Parser, scope: Scope, token: Token, context: string): never {
  if (token.type !== 'error') fail(parser, `unexpected ${describeToken(token)} in ${context}`);
  const elsewhere = scope.actionLine !== 0 && scope.actionLine !== token.line;
  const what = token.text.endsWith(' action') ? '' : ' in action';
  return fail(parser, token.text + (elsewhere ? `${what} started at :${scope.actionLine}` : ''));
}

/** Returns a token as Go's messages spell it. */
function describeToken(token: Token): string {
  if (token.type === 'eof') return 'EOF';
  if (token.type === 'error') return token.text;
  if (token.type === 'dot' || isKeyword(token.type)) return `<${token.text}>`;
  if (Buffer.byteLength(token.text) <= LONGEST_SHOWN) return quote(token.text);
  return `${quote([...token.text].slice(0, LONGEST_SHOWN).join(''))}...`;
}
