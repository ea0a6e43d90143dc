import { checkLength, spend } from './budget.ts';
import { isTrue } from './compare.ts';
import { assign, evaluatePipe } from './evaluate.ts';
import { type Execution, enter, fail } from './execution.ts';
import { goInt, isInt, isMap, isSlice, sortedKeys, typeOf } from './go-value.ts';
import type { BranchNode, List, Node, TemplateNode } from './nodes.ts';
import { sprint } from './printf.ts';
import { quote } from './quote.ts';
import { elementOf, unbox, type Value } from './value.ts';

/** How a list ended: at its end, or by a jump out of it. */
type Jump = 'break' | 'continue' | undefined;

/**
 * Evaluates the nodes of a list in order, and adds what they print to the output.
 * @throws ExecutionError
 */
export function walkList(execution: Execution, dot: Value, list: List): Jump {
  for (const node of list.nodes) {
    const jump = walkNode(execution, dot, node);
    if (jump !== undefined) return jump;
  }
  return undefined;
}

function walkNode(execution: Execution, dot: Value, node: Node): Jump {
  spend(execution.budget, 1);
  execution.node = node;
  switch (node.kind) {
    case 'text':
      print(execution, node.text);
      return undefined;
    case 'action': {
      const value = evaluatePipe(execution, dot, node.pipe);
      execution.node = node;
      if (node.pipe.declared.length === 0) printValue(execution, value);
      return undefined;
    }
    case 'if':
    case 'with':
      return walkCondition(execution, dot, node);
    case 'range':
      return walkRange(execution, dot, node);
    case 'template':
      walkTemplate(execution, dot, node);
      return undefined;
    default:
      return node.kind;
  }
}

function printValue(execution: Execution, value: Value): void {
  const inner = unbox(value);
  if (inner === undefined) print(execution, '<no value>');
  else print(execution, typeof inner === 'string' ? inner : sprint([inner], execution.budget));
}

function print(execution: Execution, text: string): void {
  checkLength(execution.budget, execution.out.length + text.length);
  spend(execution.budget, 0, text.length);
  execution.out += text;
}

function walkCondition(execution: Execution, dot: Value, node: BranchNode): Jump {
  enter(execution);
  const known = execution.variables.length;
  const value = evaluatePipe(execution, dot, node.pipe);
  let jump: Jump;
  if (isTrue(value)) jump = walkList(execution, node.kind === 'with' ? value : dot, node.list);
  else if (node.elseList !== undefined) jump = walkList(execution, dot, node.elseList);
  execution.variables.length = known;
  execution.depth--;
  return jump;
}

function walkRange(execution: Execution, dot: Value, node: BranchNode): Jump {
  enter(execution);
  const known = execution.variables.length;
  const value = evaluatePipe(execution, dot, node.pipe);
  let isEmpty = true;
  for (const [key, element] of elementsOf(execution, value, node)) {
    isEmpty = false;
    if (walkIteration(execution, key, element, node) === 'break') break;
  }
  let jump: Jump;
  if (isEmpty && node.elseList !== undefined) jump = walkList(execution, dot, node.elseList);
  execution.variables.length = known;
  execution.depth--;
  return jump === 'break' ? undefined : jump;
}

/** Runs one round of a loop, with its variables set. */
function walkIteration(execution: Execution, key: Value, element: Value, node: BranchNode): Jump {
  const { variables } = execution;
  const { declared, isAssign } = node.pipe;
  const top = variables.length;
  const [first, second] = declared;
  const values = second === undefined ? [element] : [key, element];
  for (const [index, { names }] of [first, second]
    .filter(variable => variable !== undefined)
    .entries()) {
    const binding = variables[top - declared.length + index];
    if (isAssign) assign(execution, names[0], values[index]);
    else if (binding !== undefined) binding.value = values[index];
  }
  const jump = walkList(execution, element, node.list);
  variables.length = top;
  return jump;
}

/**
 * Returns the keys and elements to range over. They are those of a slice, of a map by sorted key,
 * or the numbers below an integer.
 */
function* elementsOf(
  execution: Execution,
  value: Value,
  node: BranchNode,
): Generator<[Value, Value]> {
  const inner = unbox(value);
  if (inner === undefined) return;
  if (isSlice(inner)) {
    for (const [index, item] of inner.items.entries())
      yield [goInt(index), elementOf(item, inner.type.elem)];
  } else if (isMap(inner)) {
    spend(execution.budget, inner.entries.size);
    for (const key of sortedKeys(inner))
      yield [key, elementOf(inner.entries.get(key) ?? null, inner.type.elem)];
  } else if (isInt(inner)) {
    if (node.pipe.declared.length > 1)
      fail(execution, `can't use ${inner.type.name} to iterate over more than one variable`);
    for (let index = 0; index < inner.value; index++) {
      spend(execution.budget, 1);
      yield [undefined, goInt(index, inner.type)];
    }
  } else fail(execution, `range can't iterate over ${typeOf(inner).name}`);
}

function walkTemplate(execution: Execution, dot: Value, node: TemplateNode): void {
  const list = execution.trees.get(node.name);
  if (list === undefined) fail(execution, `template ${quote(node.name)} not defined`);
  enter(execution);
  const data = node.pipe === undefined ? undefined : evaluatePipe(execution, dot, node.pipe);
  const { name, variables } = execution;
  execution.name = node.name;
  execution.variables = [{ name: '$', value: data }];
  walkList(execution, data, list);
  execution.name = name;
  execution.variables = variables;
  execution.depth--;
}
