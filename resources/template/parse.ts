import { lex } from './lex.ts';
import type { BranchNode, List, Node, Pipe, TemplateNode } from './nodes.ts';
import { parsePipeline } from './parse-pipeline.ts';
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
  scopeOf,
  unexpected,
} from './parser.ts';
import { quote } from './quote.ts';
import type { Token } from './token.ts';
import { unquote } from './unquote.ts';

/** The templates of a text by name. The text itself has the name ''. */
export type Trees = ReadonlyMap<string, List>;

/** What closes a list of nodes, and the token that says so. */
type Closed = { readonly list: List; readonly end: 'end' | 'else' };

/**
 * Parses a template with its nested definitions. See pkg.go.dev/text/template, "Actions". The odd
 * cases are those of Go's own parser.
 * @throws ParseError in Go's words
 */
export function parseTrees(text: string, functions: ReadonlySet<string>): Trees {
  const parser: Parser = {
    tokens: lex(text),
    at: 0,
    furthest: 0,
    functions,
    trees: new Map(),
    nesting: 0,
  };
  const scope = scopeOf();
  const nodes: Node[] = [];
  while (peek(parser).type !== 'eof') {
    if (!parseDefinition(parser)) {
      const item = parseItem(parser, scope);
      if (typeof item === 'string') fail(parser, `unexpected {{${item}}}`);
      nodes.push(item);
    }
  }
  addTree(parser, '', { nodes });
  return parser.trees;
}

/** Parses `{{define "name"}}…{{end}}` if it stands here. */
function parseDefinition(parser: Parser): boolean {
  const { at } = parser;
  if (next(parser).type !== 'left delim' || nextNonSpace(parser).type !== 'define') {
    parser.at = at;
    return false;
  }
  const name = parseName(parser, nextNonSpace(parser), 'define clause');
  expectRightDelim(parser, scopeOf(), 'define clause');
  parseBody(parser, name, 'define clause');
  return true;
}

/** Parses the list of a definition or block to its end, and adds it. */
function parseBody(parser: Parser, name: string, context: string): void {
  const { list, end } = parseList(parser, scopeOf());
  if (end !== 'end') fail(parser, `unexpected {{${end}}} in ${context}`);
  addTree(parser, name, list);
}

function addTree(parser: Parser, name: string, list: List): void {
  const known = parser.trees.get(name);
  if (known === undefined || isEmpty(known)) parser.trees.set(name, list);
  else if (!isEmpty(list)) fail(parser, `template: multiple definition of template ${quote(name)}`);
}

/** Whether a list holds only space. */
function isEmpty(list: List): boolean {
  return list.nodes.every(node => node.kind === 'text' && /^\p{White_Space}*$/u.test(node.text));
}

/** Parses nodes up to `{{end}}` or `{{else}}`. */
function parseList(parser: Parser, scope: Scope): Closed {
  if (++parser.nesting > MAX_NESTING) fail(parser, `nested deeper than ${MAX_NESTING} levels`);
  const nodes: Node[] = [];
  while (peekNonSpace(parser).type !== 'eof') {
    const item = parseItem(parser, scope);
    if (typeof item === 'string') {
      parser.nesting--;
      return { list: { nodes }, end: item };
    }
    nodes.push(item);
  }
  return fail(parser, 'unexpected EOF');
}

/** Parses text or an action. `{{end}}` and `{{else}}` are returned as their names. */
function parseItem(parser: Parser, scope: Scope): Node | 'end' | 'else' {
  const token = nextNonSpace(parser);
  if (token.type === 'text') return { kind: 'text', pos: token.pos, text: token.text };
  if (token.type !== 'left delim') return unexpected(parser, scope, token, 'input');
  scope.actionLine = token.line;
  const action = parseAction(parser, scope);
  scope.actionLine = 0;
  return action;
}

function parseAction(parser: Parser, scope: Scope): Node | 'end' | 'else' {
  const token = nextNonSpace(parser);
  switch (token.type) {
    case 'block':
      return parseBlock(parser, scope);
    case 'break':
    case 'continue':
      return parseJump(parser, scope, token.type, token.pos);
    case 'else':
      return parseElse(parser, scope);
    case 'end':
      expectRightDelim(parser, scope, 'end');
      return 'end';
    case 'if':
    case 'range':
    case 'with':
      return parseBranch(parser, scope, token.type);
    case 'template':
      return parseCall(parser, scope);
  }
  backUp(parser);
  const { pos } = peek(parser);
  return { kind: 'action', pos, pipe: parsePipeline(parser, scope, 'command', 'right delim') };
}

function parseJump(parser: Parser, scope: Scope, kind: 'break' | 'continue', pos: number): Node {
  expectRightDelim(parser, scope, `{{${kind}}}`);
  if (scope.ranges === 0) fail(parser, `{{${kind}}} outside {{range}}`);
  return { kind, pos };
}

/** An `if` or `with` right after `else` is left for the branch that the `else` belongs to. */
function parseElse(parser: Parser, scope: Scope): 'else' {
  const { type } = peekNonSpace(parser);
  if (type !== 'if' && type !== 'with') expectRightDelim(parser, scope, 'else');
  return 'else';
}

function parseBranch(parser: Parser, scope: Scope, kind: BranchNode['kind']): BranchNode {
  const known = scope.variables.length;
  const pipe = parsePipeline(parser, scope, kind, 'right delim');
  if (kind === 'range') scope.ranges++;
  const { list, end } = parseList(parser, scope);
  if (kind === 'range') scope.ranges--;
  const elseList = end === 'else' ? parseElseList(parser, scope, kind) : undefined;
  scope.variables.length = known;
  return { kind, pos: pipe.pos, pipe, list, elseList };
}

/** Parses what follows `{{else`: a list, or one more branch that shares the `{{end}}`. */
function parseElseList(parser: Parser, scope: Scope, kind: BranchNode['kind']): List {
  if (kind !== 'range' && peek(parser).type === kind) {
    next(parser);
    if (++parser.nesting > MAX_NESTING) fail(parser, `nested deeper than ${MAX_NESTING} levels`);
    const branch = parseBranch(parser, scope, kind);
    parser.nesting--;
    return { nodes: [branch] };
  }
  const { list, end } = parseList(parser, scope);
  if (end !== 'end') fail(parser, `expected end; found {{${end}}}`);
  return list;
}

/** Parses `{{block "name" pipeline}}…{{end}}`: a definition and its call. */
function parseBlock(parser: Parser, scope: Scope): TemplateNode {
  const token = nextNonSpace(parser);
  const name = parseName(parser, token, 'block clause', scope);
  const pipe = parsePipeline(parser, scope, 'block clause', 'right delim');
  parseBody(parser, name, 'block clause');
  return { kind: 'template', pos: token.pos, name, pipe };
}

/** Parses `{{template "name" pipeline}}`, where the pipeline may be missing. */
function parseCall(parser: Parser, scope: Scope): TemplateNode {
  const token = nextNonSpace(parser);
  const name = parseName(parser, token, 'template clause', scope);
  let pipe: Pipe | undefined;
  if (nextNonSpace(parser).type !== 'right delim') {
    backUp(parser);
    pipe = parsePipeline(parser, scope, 'template clause', 'right delim');
  }
  return { kind: 'template', pos: token.pos, name, pipe };
}

function parseName(parser: Parser, token: Token, context: string, scope = scopeOf()): string {
  if (token.type !== 'string' && token.type !== 'raw string')
    return unexpected(parser, scope, token, context);
  return unquote(token.text) ?? fail(parser, 'invalid syntax');
}

function expectRightDelim(parser: Parser, scope: Scope, context: string): void {
  const token = nextNonSpace(parser);
  if (token.type !== 'right delim') unexpected(parser, scope, token, context);
}
