import type { Budget } from './budget.ts';
import type { TemplateFunction } from './function.ts';
import { joinBytes } from './go-string.ts';
import { nodeText } from './node-text.ts';
import type { AnyNode } from './nodes.ts';
import type { Trees } from './parse.ts';
import { quote } from './quote.ts';
import type { Value } from './value.ts';

/**
 * How deep control structures, parentheses and calls of templates may nest while a template is
 * evaluated.
 */
const MAX_DEPTH = 250;

/** A visible variable. */
export type Binding = { readonly name: string; value: Value };

/**
 * One evaluation. `node` is what is being evaluated and `name` the template it is in, both for
 * messages.
 */
export type Execution = {
  readonly text: string;
  readonly trees: Trees;
  readonly functions: ReadonlyMap<string, TemplateFunction>;
  readonly budget: Budget;
  out: string;
  node: AnyNode | undefined;
  name: string;
  variables: Binding[];
  depth: number;
};

/** Why an evaluation ended, in Go's words. */
export class ExecutionError extends Error {
  override readonly name = 'ExecutionError';
}

/** Ends the evaluation. The message names line, byte in the line and the node, as Go's do. */
export function fail(execution: Execution, reason: string): never {
  const { node, name, text } = execution;
  if (node === undefined) throw new ExecutionError(`template: ${name}: ${reason}`);
  const before = text.slice(0, node.pos);
  const line = before.split('\n').length;
  const column = Buffer.byteLength(before.slice(before.lastIndexOf('\n') + 1));
  const where = `template: :${line}:${column}: executing ${quote(name)} at <${nodeText(node)}>`;
  throw new ExecutionError(joinBytes(`${where}: ${reason}`));
}

/** Goes one level deeper. */
export function enter(execution: Execution): void {
  if (++execution.depth > MAX_DEPTH) fail(execution, `exceeded maximum depth (${MAX_DEPTH})`);
}
