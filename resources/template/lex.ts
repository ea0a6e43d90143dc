import { isPrintable, quote } from './quote.ts';
import { isKeyword, type Token, type TokenType } from './token.ts';

const LEFT = '{{';
const RIGHT = '}}';
const SPACE = ' \t\r\n';
const WORD = /[\p{L}\p{Nd}_]/u;
const WORD_RUN = /[\p{L}\p{Nd}_]*/uy;
const TERMINATORS = '.,|:)(';
const NUMBER =
  /[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?/y;

type Lexer = {
  readonly text: string;
  readonly tokens: Token[];
  /** Where the next character is read. */
  at: number;
  line: number;
  /** Up to where `line` is counted. */
  counted: number;
  parens: number;
};

/**
 * Cuts a template into tokens, the last of which is `eof` or an `error` in Go's words. Comments are
 * left out, and text is trimmed where a marker says so. See pkg.go.dev/text/template, "Text and
 * spaces".
 */
export function lex(text: string): readonly Token[] {
  const lexer: Lexer = { text, tokens: [], at: 0, line: 1, counted: 0, parens: 0 };
  while (lexText(lexer) && lexAction(lexer)) {
    // each round reads the text before an action, then the action
  }
  return lexer.tokens;
}

/**
 * Adds the token that ends where the lexer is.
 * @returns false after an error
 */
function emit(
  lexer: Lexer,
  type: TokenType,
  pos: number,
  text = lexer.text.slice(pos, lexer.at),
): boolean {
  for (; lexer.counted < pos; lexer.counted++)
    if (lexer.text.charCodeAt(lexer.counted) === 10) lexer.line++;
  lexer.tokens.push({ type, text, pos, line: lexer.line });
  return type !== 'error';
}

function fail(lexer: Lexer, pos: number, reason: string): false {
  emit(lexer, 'error', pos, reason);
  return false;
}

/**
 * Reads text, comments and the left delimiter of the next action.
 * @returns false at the end or after an error
 */
function lexText(lexer: Lexer): boolean {
  for (;;) {
    const start = lexer.at;
    const found = lexer.text.indexOf(LEFT, start);
    if (found < 0) return lexRest(lexer);
    const trims = trimsLeft(lexer.text, found + LEFT.length);
    lexer.at = trims ? trimEnd(lexer.text, start, found) : found;
    if (lexer.at > start) emit(lexer, 'text', start);
    const inside = found + LEFT.length + (trims ? 2 : 0);
    if (!lexer.text.startsWith('/*', inside)) {
      emit(lexer, 'left delim', found, LEFT);
      lexer.at = inside;
      lexer.parens = 0;
      return true;
    }
    if (!lexComment(lexer, inside)) return false;
  }
}

function lexRest(lexer: Lexer): false {
  const start = lexer.at;
  lexer.at = lexer.text.length;
  if (start < lexer.at) emit(lexer, 'text', start);
  emit(lexer, 'eof', lexer.at);
  return false;
}

/** Skips the comment at `start`. */
function lexComment(lexer: Lexer, start: number): boolean {
  const end = lexer.text.indexOf('*/', start + 2);
  if (end < 0) return fail(lexer, start, 'unclosed comment');
  const after = end + 2;
  const trims = trimsRight(lexer.text, after);
  if (!trims && !lexer.text.startsWith(RIGHT, after))
    return fail(lexer, start, 'comment ends before closing delimiter');
  lexer.at = after + RIGHT.length + (trims ? 2 : 0);
  if (trims) skipSpace(lexer);
  return true;
}

/**
 * Reads one action to its right delimiter.
 * @returns false after an error
 */
function lexAction(lexer: Lexer): boolean {
  while (lexer.tokens.at(-1)?.type !== 'right delim') {
    if (!lexInside(lexer)) return false;
  }
  return true;
}

/** Reads one token inside an action. */
function lexInside(lexer: Lexer): boolean {
  const { text, at: start } = lexer;
  if (atRightDelim(text, start)) {
    return lexer.parens === 0 ? lexRightDelim(lexer) : fail(lexer, start, 'unclosed left paren');
  }
  const code = text.codePointAt(start);
  if (code === undefined) return fail(lexer, start, 'unclosed action');
  const rune = String.fromCodePoint(code);
  if (SPACE.includes(rune)) return lexSpace(lexer);
  if ((rune >= '0' && rune <= '9') || rune === '+' || rune === '-') return lexNumber(lexer);
  if (rune === '.')
    return /[0-9]|^$/.test(text.charAt(start + 1)) ? lexNumber(lexer) : lexField(lexer, 'field');
  if (WORD.test(rune)) return lexWord(lexer);
  lexer.at = start + rune.length;
  return lexSign(lexer, rune, start);
}

/** Reads what begins with a sign that was read already. */
function lexSign(lexer: Lexer, rune: string, start: number): boolean {
  switch (rune) {
    case '=':
      return emit(lexer, 'assign', start);
    case ':':
      if (lexer.text[lexer.at++] !== '=') return fail(lexer, start, 'expected :=');
      return emit(lexer, 'declare', start);
    case '|':
      return emit(lexer, 'pipe', start);
    case '"':
      return lexQuoted(lexer, '"', 'string', 'quoted string');
    case "'":
      return lexQuoted(lexer, "'", 'char constant', 'character constant');
    case '`':
      return lexRawString(lexer);
    case '$':
      lexer.at = start;
      return lexField(lexer, 'variable');
    case '(':
      lexer.parens++;
      return emit(lexer, 'left paren', start);
    case ')':
      if (--lexer.parens < 0) return fail(lexer, start, 'unexpected right paren');
      return emit(lexer, 'right paren', start);
  }
  if (rune >= ' ' && rune <= '~') return emit(lexer, 'char', start);
  return fail(lexer, start, `unrecognized character in action: ${describeRune(rune)}`);
}

function lexRightDelim(lexer: Lexer): boolean {
  const trims = trimsRight(lexer.text, lexer.at);
  const start = lexer.at + (trims ? 2 : 0);
  lexer.at = start + RIGHT.length;
  emit(lexer, 'right delim', start);
  if (trims) skipSpace(lexer);
  return true;
}

/** Reads a run of spaces. The last one may belong to a delimiter that trims. */
function lexSpace(lexer: Lexer): boolean {
  const start = lexer.at;
  skipSpace(lexer);
  if (trimsRight(lexer.text, lexer.at - 1)) lexer.at--;
  return lexer.at === start || emit(lexer, 'space', start);
}

/** Reads `.Field` or `$variable`, or one of these signs alone. */
function lexField(lexer: Lexer, type: 'field' | 'variable'): boolean {
  const start = lexer.at++;
  if (atTerminator(lexer)) return emit(lexer, type === 'field' ? 'dot' : type, start);
  skipWord(lexer);
  return atTerminator(lexer) ? emit(lexer, type, start) : failAtRune(lexer, start);
}

/** Reads a keyword, a boolean or the name of a function. */
function lexWord(lexer: Lexer): boolean {
  const start = lexer.at;
  skipWord(lexer);
  if (!atTerminator(lexer)) return failAtRune(lexer, start);
  const word = lexer.text.slice(start, lexer.at);
  if (isKeyword(word)) return emit(lexer, word, start);
  return emit(lexer, word === 'true' || word === 'false' ? 'bool' : 'identifier', start);
}

/** Reads up to the closing mark on the same line. */
function lexQuoted(lexer: Lexer, mark: string, type: TokenType, what: string): boolean {
  const start = lexer.at - 1;
  for (;;) {
    const unit = lexer.text[lexer.at++];
    if (unit === mark) return emit(lexer, type, start);
    const next = unit === '\\' ? lexer.text[lexer.at++] : unit;
    if (next === undefined || next === '\n') return fail(lexer, start, `unterminated ${what}`);
  }
}

function lexRawString(lexer: Lexer): boolean {
  const start = lexer.at - 1;
  const end = lexer.text.indexOf('`', lexer.at);
  if (end < 0) return fail(lexer, start, 'unterminated raw quoted string');
  lexer.at = end + 1;
  return emit(lexer, 'raw string', start);
}

/** Reads what looks like a number or `1+2i`. The parser decides whether it is one. */
function lexNumber(lexer: Lexer): boolean {
  const start = lexer.at;
  if (!skipNumber(lexer)) return failNumber(lexer, start);
  if (!'+-'.includes(lexer.text[lexer.at] ?? ' ')) return emit(lexer, 'number', start);
  if (!skipNumber(lexer) || lexer.text[lexer.at - 1] !== 'i') return failNumber(lexer, start);
  return emit(lexer, 'complex', start);
}

/**
 * Skips a number.
 * @returns false, and one character further, when a letter or digit follows
 */
function skipNumber(lexer: Lexer): boolean {
  NUMBER.lastIndex = lexer.at;
  lexer.at += NUMBER.exec(lexer.text)?.[0].length ?? 0;
  const next = runeAt(lexer);
  if (!WORD.test(next)) return true;
  lexer.at += next.length;
  return false;
}

function failNumber(lexer: Lexer, start: number): false {
  return fail(lexer, start, `bad number syntax: ${quote(lexer.text.slice(start, lexer.at))}`);
}

function failAtRune(lexer: Lexer, start: number): false {
  return fail(lexer, start, `bad character ${describeRune(runeAt(lexer))}`);
}

/** Returns a character as Go's %#U writes it. */
function describeRune(rune: string): string {
  const hex = (rune.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return isPrintable(rune) ? `U+${hex} '${rune}'` : `U+${hex}`;
}

/** Whether a name may end here. */
function atTerminator(lexer: Lexer): boolean {
  const next = lexer.text[lexer.at];
  if (next === undefined || SPACE.includes(next) || TERMINATORS.includes(next)) return true;
  return lexer.text.startsWith(RIGHT, lexer.at);
}

function runeAt(lexer: Lexer): string {
  const code = lexer.text.codePointAt(lexer.at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

function skipWord(lexer: Lexer): void {
  WORD_RUN.lastIndex = lexer.at;
  lexer.at += WORD_RUN.exec(lexer.text)?.[0].length ?? 0;
}

function skipSpace(lexer: Lexer): void {
  while (isSpace(lexer.text[lexer.at])) lexer.at++;
}

function isSpace(unit: string | undefined): boolean {
  return unit !== undefined && SPACE.includes(unit);
}

function atRightDelim(text: string, at: number): boolean {
  return trimsRight(text, at) || text.startsWith(RIGHT, at);
}

/** Whether `- ` stands here, which trims the text before the action. */
function trimsLeft(text: string, at: number): boolean {
  return text[at] === '-' && isSpace(text[at + 1]);
}

/** Whether ` -}}` stands here, which trims the text after the action. */
function trimsRight(text: string, at: number): boolean {
  return isSpace(text[at]) && text[at + 1] === '-' && text.startsWith(RIGHT, at + 2);
}

/** Returns the end of the text from `start` to `end` without its spaces. */
function trimEnd(text: string, start: number, end: number): number {
  while (end > start && isSpace(text[end - 1])) end--;
  return end;
}
