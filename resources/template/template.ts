import type { Parsed } from '#resources/words/parsed-string.ts';
import { LimitError } from './budget.ts';
import { BUILTINS, Discarded, DO_NOT_SET, HAS_KEY, JSON_FUNCTION } from './builtins.ts';
import { type Execution, ExecutionError } from './execution.ts';
import type { TemplateFunction } from './function.ts';
import { joinBytes } from './go-string.ts';
import type { GoValue } from './go-type.ts';
import { parseTrees, type Trees } from './parse.ts';
import { ParseError } from './parser.ts';
import { walkList } from './walk.ts';

/**
 * Which functions a template may call, besides Go's own. `header` has hasKey and doNotSet, `body`
 * hasKey and json.
 */
export type TemplateUse = 'header' | 'body';

/** A parsed template. `fixed` is its result when it is text alone. */
export type Template = {
  readonly text: string;
  readonly trees: Trees;
  readonly fixed: Rendered | undefined;
};

/** The result of a template: text, nothing (`doNotSet` was called), or why it failed. */
export type Rendered =
  | { readonly text: string }
  | { readonly doNotSet: true }
  | { readonly error: string };

/** The most that one evaluation may use: steps, and UTF-16 units of output. */
export type TemplateLimits = { readonly steps: number; readonly output: number };

const LONGEST_TEXT = 65_536;
const LONGEST_MESSAGE = 2000;
const LIMITS: TemplateLimits = { steps: 100_000, output: 65_536 };
const FUNCTIONS: Readonly<Record<TemplateUse, ReadonlyMap<string, TemplateFunction>>> = {
  header: byName([...BUILTINS, HAS_KEY, DO_NOT_SET]),
  body: byName([...BUILTINS, HAS_KEY, JSON_FUNCTION]),
};

/**
 * Parses a Go text/template of at most 64 KiB. The error names line and what is wrong, in Go's
 * words where Go has them. The language is that of Go 1.26 (pkg.go.dev/text/template) with the
 * functions of `use`.
 */
export function parseTemplate(text: string, use: TemplateUse): Parsed<Template> {
  if (Buffer.byteLength(text) > LONGEST_TEXT)
    return { error: `the template is longer than ${LONGEST_TEXT} bytes` };
  const wellFormed = text.toWellFormed();
  try {
    const trees = parseTrees(wellFormed, FUNCTIONS[use]);
    return { value: { text: wellFormed, trees, fixed: fixedText(trees) } };
  } catch (error) {
    if (error instanceof ParseError) return { error: shorten(error.message) };
    throw error;
  }
}

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

/** Shortens a message, which may quote the template. */
function shorten(message: string): string {
  const text = joinBytes(message).toWellFormed();
  const half = LONGEST_MESSAGE / 2;
  return text.length <= LONGEST_MESSAGE
    ? text
    : `${text.slice(0, half)}…${text.slice(-half)}`.toWellFormed();
}

/** Returns the text of a template without any action. */
function fixedText(trees: Trees): Rendered | undefined {
  const texts = (trees.get('')?.nodes ?? []).map(node =>
    node.kind === 'text' ? node.text : undefined,
  );
  return texts.includes(undefined) ? undefined : { text: texts.join('') };
}

function byName(functions: readonly TemplateFunction[]): ReadonlyMap<string, TemplateFunction> {
  return new Map(functions.map(fn => [fn.name, fn]));
}
