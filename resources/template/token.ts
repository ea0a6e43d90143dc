import { quote } from './quote.ts';

/** The words of a template that are keywords inside an action. */
const KEYWORDS = [
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'nil',
  'range',
  'template',
  'with',
] as const;

export type Keyword = (typeof KEYWORDS)[number];

export type TokenType =
  | Keyword
  | 'assign'
  | 'bool'
  | 'char'
  | 'char constant'
  | 'complex'
  | 'declare'
  | 'dot'
  | 'eof'
  | 'error'
  | 'field'
  | 'identifier'
  | 'left delim'
  | 'left paren'
  | 'number'
  | 'pipe'
  | 'raw string'
  | 'right delim'
  | 'right paren'
  | 'space'
  | 'string'
  | 'text'
  | 'variable';

/**
 * A piece of a template. `pos` counts UTF-16 units from 0, and `line` from 1. The `text` of an
 * error says what is wrong.
 */
export type Token = {
  readonly type: TokenType;
  readonly text: string;
  readonly pos: number;
  readonly line: number;
};

const LONGEST_SHOWN = 10;

/** Whether `word` is a keyword. */
export function isKeyword(word: string): word is Keyword {
  return (KEYWORDS as readonly string[]).includes(word);
}

/** Returns a token as Go's messages spell it. */
export function describeToken(token: Token): string {
  if (token.type === 'eof') return 'EOF';
  if (token.type === 'error') return token.text;
  if (token.type === 'dot' || isKeyword(token.type)) return `<${token.text}>`;
  if (Buffer.byteLength(token.text) <= LONGEST_SHOWN) return quote(token.text);
  return `${quote([...token.text].slice(0, LONGEST_SHOWN).join(''))}...`;
}
