import { nodeText } from './node-text.ts';
import type { Chain, Command, Field, NumberNode, Operand, Pipe, Variable } from './nodes.ts';
import { type ParsedNumber, parseCharConstant, parseComplex, parseNumber } from './parse-number.ts';
import {
  backUp,
  fail,
  MAX_NESTING,
  next,
  nextNonSpace,
  type Parser,
  peek,
  peekNonSpace,
  type Scope,
  unexpected,
} from './parser.ts';
import { quote } from './quote.ts';
import type { Token, TokenType } from './token.ts';
import { unquote } from './unquote.ts';

const BEGINS_COMMAND: ReadonlySet<TokenType> = new Set<TokenType>([
  'bool',
  'char constant',
  'complex',
  'dot',
  'field',
  'identifier',
  'left paren',
  'nil',
  'number',
  'raw string',
  'string',
  'variable',
]);
const CONSTANTS: ReadonlySet<Operand['kind']> = new Set<Operand['kind']>([
  'bool',
  'dot',
  'nil',
  'number',
  'string',
]);

/** Parses a pipeline with its declarations up to `end`. `context` names the action it stands in. */
export function parsePipeline(parser: Parser, scope: Scope, context: string, end: TokenType): Pipe {
  const { pos } = peekNonSpace(parser);
  const declared: Variable[] = [];
  const isAssign = parseDeclarations(parser, scope, context, declared);
  const commands: Command[] = [];
  for (;;) {
    const token = nextNonSpace(parser);
    if (token.type === end) break;
    if (!BEGINS_COMMAND.has(token.type)) unexpected(parser, scope, token, context);
    backUp(parser);
    commands.push(parseCommand(parser, scope));
  }
  checkCommands(parser, commands, context);
  return { kind: 'pipe', pos, isAssign, declared, commands };
}

/**
 * Parses `$x :=`, `$x =`, `$i, $x :=` where they stand.
 * @returns true for an assignment
 */
function parseDeclarations(
  parser: Parser,
  scope: Scope,
  context: string,
  declared: Variable[],
): boolean {
  const { at } = parser;
  const token = peekNonSpace(parser);
  if (token.type !== 'variable') return false;
  nextNonSpace(parser);
  const sign = nextNonSpace(parser);
  const isComma = sign.type === 'char' && sign.text === ',';
  if (!isComma && sign.type !== 'assign' && sign.type !== 'declare') {
    parser.at = at;
    return false;
  }
  declared.push({ kind: 'variable', pos: token.pos, names: [token.text] });
  scope.variables.push(token.text);
  if (!isComma) return sign.type === 'assign';
  if (context !== 'range' || declared.length > 1)
    fail(parser, `too many declarations in ${context}`);
  const { type } = peekNonSpace(parser);
  if (type !== 'variable' && type !== 'right delim' && type !== 'right paren')
    fail(parser, 'range can only initialize variables');
  return parseDeclarations(parser, scope, context, declared);
}

function checkCommands(parser: Parser, commands: readonly Command[], context: string): void {
  if (commands.length === 0) fail(parser, `missing value for ${context}`);
  const stage = commands.findIndex(
    (command, index) => index > 0 && CONSTANTS.has(command.args[0].kind),
  );
  if (stage > 0) fail(parser, `non executable command in pipeline stage ${stage + 1}`);
}

/** Parses operands up to a pipe, which it takes, or a delimiter, which it leaves. */
function parseCommand(parser: Parser, scope: Scope): Command {
  const { pos } = peekNonSpace(parser);
  const args: Operand[] = [];
  for (;;) {
    peekNonSpace(parser);
    const operand = parseOperand(parser, scope);
    if (operand !== undefined) args.push(operand);
    const token = next(parser);
    if (token.type === 'space') continue;
    if (token.type === 'right delim' || token.type === 'right paren') backUp(parser);
    else if (token.type !== 'pipe') unexpected(parser, scope, token, 'operand');
    break;
  }
  const [first, ...rest] = args;
  if (first === undefined) return fail(parser, 'empty command');
  return { kind: 'command', pos, args: [first, ...rest] };
}

/**
 * Parses a term and the fields after it.
 * @returns undefined when no term stands here
 */
function parseOperand(parser: Parser, scope: Scope): Operand | undefined {
  const term = parseTerm(parser, scope);
  const { pos, type } = peek(parser);
  if (term === undefined || type !== 'field') return term;
  const names: string[] = [];
  while (peek(parser).type === 'field') names.push(next(parser).text.slice(1));
  if (CONSTANTS.has(term.kind)) fail(parser, `unexpected . after term ${quote(nodeText(term))}`);
  return withFields(term, pos, names);
}

function withFields(
  term: Operand,
  pos: number,
  names: readonly string[],
): Field | Variable | Chain {
  if (term.kind === 'field') return { kind: 'field', pos, names: [...term.names, ...names] };
  if (term.kind === 'variable') return { kind: 'variable', pos, names: [...term.names, ...names] };
  return { kind: 'chain', pos, node: term, names };
}

function parseTerm(parser: Parser, scope: Scope): Operand | undefined {
  const token = nextNonSpace(parser);
  const { pos, text } = token;
  switch (token.type) {
    case 'identifier':
      return { kind: 'identifier', pos, name: functionOf(parser, text) };
    case 'dot':
    case 'nil':
      return { kind: token.type, pos };
    case 'variable':
      return variableOf(parser, scope, token);
    case 'field':
      return { kind: 'field', pos, names: [text.slice(1)] };
    case 'bool':
      return { kind: 'bool', pos, value: text === 'true' };
    case 'char constant':
      return numberOf(parser, token, parseCharConstant(text));
    case 'complex':
      return numberOf(parser, token, parseComplex(text));
    case 'number':
      return numberOf(parser, token, parseNumber(text));
    case 'left paren':
      return parseParentheses(parser, scope);
    case 'string':
    case 'raw string':
      return {
        kind: 'string',
        pos,
        quoted: text,
        text: unquote(text) ?? fail(parser, 'invalid syntax'),
      };
  }
  backUp(parser);
  return undefined;
}

function parseParentheses(parser: Parser, scope: Scope): Pipe {
  if (++parser.nesting > MAX_NESTING) fail(parser, 'max expression depth exceeded');
  const pipe = parsePipeline(parser, scope, 'parenthesized pipeline', 'right paren');
  parser.nesting--;
  return pipe;
}

function functionOf(parser: Parser, name: string): string {
  return parser.functions.has(name) ? name : fail(parser, `function ${quote(name)} not defined`);
}

function variableOf(parser: Parser, scope: Scope, { pos, text }: Token): Variable {
  if (!scope.variables.includes(text)) fail(parser, `undefined variable ${quote(text)}`);
  return { kind: 'variable', pos, names: [text] };
}

function numberOf(parser: Parser, { pos, text }: Token, number: ParsedNumber): NumberNode {
  if ('error' in number) return fail(parser, number.error);
  return { kind: 'number', pos, text, value: number.value, integer: number.integer };
}
