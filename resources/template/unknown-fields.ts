import type { List, Node, Operand, Pipe } from './nodes.ts';
import type { Template } from './template.ts';

/**
 * What a template may name: the fields of its data, with a list as its one element. `open` is a
 * text, a number or a map, whose fields and methods only the data knows.
 */
export type Vocabulary = 'open' | readonly [Vocabulary] | { readonly [field: string]: Vocabulary };

/** A field that the data never has. It has a path, such as `.token.Clams`, and the known names. */
export type UnknownField = { readonly path: string; readonly known: readonly string[] };

type Scope = { readonly root: Vocabulary; readonly found: (unknown: UnknownField) => void };

/**
 * Returns the fields that a template reads and its data never has. In some places the data is
 * unknown, as in a variable or a template of its own. There everything counts as known.
 */
export function unknownFields({ trees }: Template, root: Vocabulary): readonly UnknownField[] {
  const unknown = new Map<string, UnknownField>();
  const found = (field: UnknownField) => void unknown.set(field.path, field);
  for (const [name, list] of trees) {
    const own = name === '' ? root : 'open';
    walkList(list, own, { root: own, found });
  }
  return [...unknown.values()];
}

function walkList({ nodes }: List, dot: Vocabulary, scope: Scope): void {
  for (const node of nodes) walkNode(node, dot, scope);
}

function walkNode(node: Node, dot: Vocabulary, scope: Scope): void {
  if (node.kind === 'action') walkPipe(node.pipe, dot, scope);
  if (node.kind === 'template' && node.pipe !== undefined) walkPipe(node.pipe, dot, scope);
  if (node.kind !== 'if' && node.kind !== 'with' && node.kind !== 'range') return;
  const value = walkPipe(node.pipe, dot, scope);
  const inner = { if: dot, with: value, range: Array.isArray(value) ? value[0] : 'open' } as const;
  walkList(node.list, inner[node.kind], scope);
  if (node.elseList !== undefined) walkList(node.elseList, dot, scope);
}

/** Returns the result of the pipe, as far as it is one value of the data. */
function walkPipe({ commands }: Pipe, dot: Vocabulary, scope: Scope): Vocabulary {
  const values = commands.map(({ args }) => args.map(operand => walkOperand(operand, dot, scope)));
  const [[only = 'open', ...more] = [], ...others] = values;
  return more.length + others.length === 0 ? only : 'open';
}

function walkOperand(operand: Operand, dot: Vocabulary, scope: Scope): Vocabulary {
  switch (operand.kind) {
    case 'dot':
      return dot;
    case 'field':
      return resolve(dot, operand.names, scope);
    case 'variable': {
      const [name, ...names] = operand.names;
      return name === '$' ? resolve(scope.root, names, scope) : 'open';
    }
    case 'pipe':
      return walkPipe(operand, dot, scope);
    case 'chain':
      return resolve(walkOperand(operand.node, dot, scope), operand.names, scope);
    default:
      return 'open';
  }
}

function resolve(from: Vocabulary, names: readonly string[], { found }: Scope): Vocabulary {
  let at = from;
  for (const [index, name] of names.entries()) {
    if (at === 'open' || isList(at)) return 'open';
    const next = Object.hasOwn(at, name) ? at[name] : undefined;
    if (next === undefined) {
      found({ path: `.${names.slice(0, index + 1).join('.')}`, known: Object.keys(at) });
      return 'open';
    }
    at = next;
  }
  return at;
}

function isList(vocabulary: Vocabulary): vocabulary is readonly [Vocabulary] {
  return Array.isArray(vocabulary);
}
