import { spend } from './budget.ts';
import { isTrue } from './compare.ts';
import { DURATION } from './duration.ts';
import { type Binding, type Execution, enter, fail } from './execution.ts';
import { CallError, type TemplateFunction, VALUE } from './function.ts';
import type { GoValue } from './go-type.ts';
import { ANY, type GoMethod, type GoType, STRING } from './go-type.ts';
import { goInt, isMap, isStruct, typeOf } from './go-value.ts';
import { nodeText } from './node-text.ts';
import type { AnyNode, Chain, Command, Identifier, Operand, Pipe, Variable } from './nodes.ts';
import { elementOf, isBoxed, plain, typeName, unbox, type Value } from './value.ts';

/**
 * The value that a pipeline hands to its next command as last argument. `NONE` when there is none.
 */
type Final = Value | typeof NONE;
const NONE: unique symbol = Symbol('no value');

/**
 * What a field, method or function is evaluated with. `args` begin with itself, unless there are
 * none at all.
 */
type Given = { readonly dot: Value; readonly args: readonly Operand[]; readonly final: Final };

function without(dot: Value): Given {
  return { dot, args: [], final: NONE };
}

/**
 * Returns the value of a pipeline, whose variables stay declared.
 * @throws ExecutionError in Go's words
 */
export function evaluatePipe(execution: Execution, dot: Value, pipe: Pipe): Value {
  enter(execution);
  execution.node = pipe;
  let value: Final = NONE;
  for (const command of pipe.commands)
    value = open(evaluateCommand(execution, dot, command, value));
  const result = value === NONE ? undefined : value;
  for (const { names } of pipe.declared) {
    if (pipe.isAssign) assign(execution, names[0], result);
    else execution.variables.push({ name: names[0], value: result });
  }
  execution.depth--;
  return result;
}

/** At the end of a command a value forgets that its static type was `any`. */
function open(value: Value): Value {
  return isBoxed(value) ? unbox(value) : value;
}

/** Gives a new value to the variable that was declared last under a name. */
export function assign(execution: Execution, name: string, value: Value): void {
  const binding = findVariable(execution, name);
  if (binding === undefined) fail(execution, `undefined variable: ${name}`);
  else binding.value = value;
}

function findVariable({ variables, budget }: Execution, name: string): Binding | undefined {
  spend(budget, 0, variables.length);
  return variables.findLast(variable => variable.name === name);
}

function evaluateCommand(execution: Execution, dot: Value, command: Command, final: Final): Value {
  spend(execution.budget, 1);
  const [first] = command.args;
  const given: Given = { dot, args: command.args, final };
  switch (first.kind) {
    case 'field':
      execution.node = first;
      return evaluateFields(execution, dot, first, first.names, given);
    case 'chain':
      return evaluateChain(execution, first, given);
    case 'identifier':
      execution.node = first;
      return evaluateCall(execution, functionOf(execution, first), command, given);
    case 'pipe':
      refuseArguments(execution, given);
      return evaluatePipe(execution, dot, first);
    case 'variable':
      return evaluateVariable(execution, first, given);
  }
  execution.node = first;
  refuseArguments(execution, given);
  if (first.kind === 'dot') return dot;
  if (first.kind === 'nil') fail(execution, 'nil is not a command');
  return constant(execution, first);
}

function refuseArguments(execution: Execution, { args, final }: Given): void {
  const [first] = args;
  if (first !== undefined && (args.length > 1 || final !== NONE))
    fail(execution, `can't give argument to non-function ${nodeText(first)}`);
}

/** Returns the value of a literal whose type only its syntax decides. */
function constant(execution: Execution, node: Operand): Value {
  if (node.kind === 'bool') return node.value;
  if (node.kind === 'string') return node.text;
  if (node.kind !== 'number') return fail(execution, `can't evaluate command ${nodeText(node)}`);
  return node.value === undefined ? fail(execution, `${node.text} overflows int`) : node.value;
}

function evaluateVariable(execution: Execution, node: Variable, given: Given): Value {
  execution.node = node;
  const [name, ...fields] = node.names;
  const binding = findVariable(execution, name);
  if (binding === undefined) return fail(execution, `undefined variable: ${name}`);
  if (fields.length > 0) return evaluateFields(execution, binding.value, node, fields, given);
  refuseArguments(execution, given);
  return binding.value;
}

function evaluateChain(execution: Execution, node: Chain, given: Given): Value {
  execution.node = node;
  if (node.node.kind === 'nil')
    fail(execution, `indirection through explicit nil in ${nodeText(node)}`);
  const receiver = evaluateArgument(execution, given.dot, undefined, node.node);
  return evaluateFields(execution, receiver, node, node.names, given);
}

/** Evaluates `.A.B.C`. Only the last of them, which may be a method, gets the arguments. */
function evaluateFields(
  execution: Execution,
  start: Value,
  node: AnyNode,
  names: readonly string[],
  given: Given,
): Value {
  let receiver = start;
  const last = names.length - 1;
  for (let index = 0; index < last; index++)
    receiver = evaluateField(execution, receiver, node, names[index] ?? '', without(given.dot));
  return evaluateField(execution, receiver, node, names[last] ?? '', given);
}

function evaluateField(
  execution: Execution,
  receiver: Value,
  node: AnyNode,
  name: string,
  given: Given,
): Value {
  if (receiver === undefined) return undefined;
  const value = unbox(receiver);
  if (value === undefined) return fail(execution, `nil pointer evaluating ${ANY.name}.${name}`);
  const type = typeOf(value);
  const method = type.methods?.get(name);
  if (method !== undefined)
    return evaluateCall(execution, boundMethod(name, method, value), node, given);
  const hasArguments = given.args.length > 1 || given.final !== NONE;
  if (isMap(value)) {
    if (hasArguments) fail(execution, `${name} is not a method but has arguments`);
    const found = value.entries.get(name);
    return found === undefined ? undefined : elementOf(found, type.elem);
  }
  const index = isStruct(value) ? (type.fields?.findIndex(field => field.name === name) ?? -1) : -1;
  if (index < 0 || !isStruct(value))
    return fail(execution, `can't evaluate field ${name} in type ${typeName(receiver)}`);
  if (hasArguments) fail(execution, `${name} has arguments but cannot be invoked as function`);
  const found = value.values[index] ?? null;
  return found === null || type.fields?.[index]?.isAny === true ? elementOf(found, ANY) : found;
}

function boundMethod(
  name: string,
  { params, call }: GoMethod,
  receiver: GoValue,
): TemplateFunction {
  if (call === undefined) return { name, params, call: noResult };
  return { name, params, call: args => call(receiver, args.map(plain)) };
}

function noResult(): never {
  throw new CallError('no result');
}

function functionOf(execution: Execution, { name }: Identifier): TemplateFunction {
  return execution.functions.get(name) ?? fail(execution, `function ${name} not defined`);
}

/** Calls a function or method. */
function evaluateCall(
  execution: Execution,
  fn: TemplateFunction,
  node: AnyNode,
  given: Given,
): Value {
  const { dot, args, final } = given;
  const count = Math.max(args.length - 1, 0);
  checkCount(execution, fn, count, final);
  if (fn.special === 'and' || fn.special === 'or') return evaluateLogic(execution, fn, given);
  const values: Value[] = [];
  for (let index = 1; index < args.length; index++) {
    const arg = args[index];
    if (arg !== undefined)
      values.push(evaluateArgument(execution, dot, paramType(fn, index - 1), arg));
  }
  if (final !== NONE) values.push(checkType(execution, final, paramType(fn, count)));
  try {
    if (fn.special === 'call') return refuseCall(values[0], args[1]);
    return fn.call(values, execution.budget);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    execution.node = node;
    return fail(execution, `error calling ${fn.name}: ${error.message}`);
  }
}

function paramType(fn: TemplateFunction, index: number): GoType {
  return fn.params[index] ?? fn.rest ?? ANY;
}

function checkCount(execution: Execution, fn: TemplateFunction, count: number, final: Final): void {
  const given = count + (final === NONE ? 0 : 1);
  const wanted = fn.params.length;
  if (fn.rest === undefined && given !== wanted)
    fail(execution, `wrong number of args for ${fn.name}: want ${wanted} got ${given}`);
  if (given < wanted)
    fail(execution, `wrong number of args for ${fn.name}: want at least ${wanted} got ${count}`);
  if (fn.call === noResult)
    fail(execution, `function ${fn.name} has 0 return values; should be 1 or 2`);
}

/** Evaluates `and` and `or` with no more arguments than they need. */
function evaluateLogic(
  execution: Execution,
  fn: TemplateFunction,
  { dot, args, final }: Given,
): Value {
  let value: Value;
  for (let index = 1; index < args.length; index++) {
    const arg = args[index];
    if (arg !== undefined) value = evaluateArgument(execution, dot, VALUE, arg);
    if (isTrue(value) === (fn.special === 'or')) return value;
  }
  return final === NONE ? value : final;
}

/** No value that a template sees is a function. */
function refuseCall(value: Value, node: Operand | undefined): never {
  const inner = unbox(value);
  if (inner === undefined) throw new CallError('call of nil');
  const name = node === undefined ? `<${typeName(inner)} Value>` : nodeText(node);
  throw new CallError(`non-function ${name} of type ${typeName(inner)}`);
}

/** Evaluates an argument for a parameter of a type. Without a type any value is accepted. */
function evaluateArgument(
  execution: Execution,
  dot: Value,
  type: GoType | undefined,
  node: Operand,
): Value {
  spend(execution.budget, 1);
  execution.node = node;
  switch (node.kind) {
    case 'dot':
      return checkType(execution, dot, type);
    case 'nil':
      if (type !== VALUE && type !== ANY) fail(execution, `cannot assign nil to ${type?.name}`);
      return undefined;
    case 'field':
      return checkType(
        execution,
        evaluateFields(execution, dot, node, node.names, without(dot)),
        type,
      );
    case 'variable':
      return checkType(execution, evaluateVariable(execution, node, without(dot)), type);
    case 'pipe':
      return checkType(execution, evaluatePipe(execution, dot, node), type);
    case 'identifier':
      return checkType(
        execution,
        evaluateCall(execution, functionOf(execution, node), node, without(dot)),
        type,
      );
    case 'chain':
      return checkType(execution, evaluateChain(execution, node, without(dot)), type);
  }
  if (type === STRING)
    return node.kind === 'string' ? node.text : expected(execution, 'string', node);
  if (type === DURATION) {
    const integer = node.kind === 'number' ? node.integer : undefined;
    return integer === undefined ? expected(execution, 'integer', node) : goInt(integer, DURATION);
  }
  return constant(execution, node);
}

function expected(execution: Execution, what: string, node: Operand): never {
  return fail(execution, `expected ${what}; found ${nodeText(node)}`);
}

/** Returns the value, if a parameter of the type accepts it. */
function checkType(execution: Execution, value: Value, type: GoType | undefined): Value {
  if (type === undefined || type === VALUE) return value;
  if (type === ANY) return open(value);
  if (value === undefined) return fail(execution, `invalid value; expected ${type.name}`);
  const inner = unbox(value);
  if (inner !== undefined && typeOf(inner).name === type.name) return inner;
  const got = inner === undefined ? ANY.name : typeName(inner);
  return fail(execution, `wrong type for value; expected ${type.name}; got ${got}`);
}
