import { LimitError } from './budget.ts';
import { Discarded, FUNCTIONS } from './builtins.ts';
import { type Execution, ExecutionError } from './execution.ts';
import { joinBytes } from './go-string.ts';
import type { GoValue } from './go-type.ts';
import { shorten, type Template } from './template.ts';
import { walkList } from './walk.ts';

/** The result of a template: text, nothing (`doNotSet` was called), or why it failed. */
export type Rendered =
  | { readonly text: string }
  | { readonly doNotSet: true }
  | { readonly error: string };

/** The most that one evaluation may use: steps, and UTF-16 units of output. */
export type TemplateLimits = { readonly steps: number; readonly output: number };

const LIMITS: TemplateLimits = { steps: 100_000, output: 65_536 };

/**
 * Evaluates a template. It never throws, and is bounded in steps, depth and size of the output.
 * Errors are in Go's words but hold only types, and no value of the data. A byte of the result
 * outside valid UTF-8 is U+FFFD.
 */
export function renderTemplate(template: Template, data: GoValue, limits = LIMITS): Rendered {
  if (template.fixed !== undefined) return template.fixed;
  const dot = data ?? undefined;
  const execution: Execution = {
    text: template.text,
    trees: template.trees,
    functions: FUNCTIONS,
    budget: { steps: limits.steps, longest: limits.output },
    out: '',
    node: undefined,
    name: '',
    variables: [{ name: '$', value: dot }],
    depth: 0,
  };
  try {
    walkList(execution, dot, template.trees.get('') ?? { nodes: [] });
    return { text: joinBytes(execution.out).toWellFormed() };
  } catch (error) {
    return failure(error);
  }
}

function failure(error: unknown): Rendered {
  if (error instanceof Discarded) return { doNotSet: true };
  if (error instanceof ExecutionError || error instanceof LimitError)
    return { error: shorten(error.message) };
  throw error;
}
