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

/** Whether `word` is a keyword. */
export function isKeyword(word: string): word is Keyword {
  return (KEYWORDS as readonly string[]).includes(word);
}
