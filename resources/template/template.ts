import type { Parsed } from '#resources/words/parsed-string.ts';
import { joinBytes } from './go-string.ts';
import { parseTrees, type Trees } from './parse.ts';
import { ParseError } from './parser.ts';

/** Go's own functions. See pkg.go.dev/text/template, "Functions". */
const GO_NAMES = [
  'and',
  'or',
  'call',
  'not',
  'len',
  'index',
  'slice',
  'print',
  'println',
  'printf',
  'html',
  'js',
  'urlquery',
  'eq',
  'ne',
  'lt',
  'le',
  'gt',
  'ge',
] as const;
const HEADER_NAMES = [...GO_NAMES, 'hasKey', 'doNotSet'] as const;
const BODY_NAMES = [...GO_NAMES, 'hasKey', 'json'] as const;

export type FunctionName = (typeof HEADER_NAMES | typeof BODY_NAMES)[number];

/**
 * Which functions a template may call, besides Go's own. `header` has hasKey and doNotSet, `body`
 * hasKey and json.
 */
export type TemplateUse = 'header' | 'body';

/** A parsed template. `fixed` is its result when it is text alone. */
export type Template = {
  readonly text: string;
  readonly trees: Trees;
  readonly fixed: { readonly text: string } | undefined;
};

const LONGEST_TEXT = 65_536;
const LONGEST_MESSAGE = 2000;
const NAMES: Readonly<Record<TemplateUse, ReadonlySet<string>>> = {
  header: new Set(HEADER_NAMES),
  body: new Set(BODY_NAMES),
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
    const trees = parseTrees(wellFormed, NAMES[use]);
    return { value: { text: wellFormed, trees, fixed: fixedText(trees) } };
  } catch (error) {
    if (error instanceof ParseError) return { error: shorten(error.message) };
    throw error;
  }
}

/** Shortens a message, which may quote the template. */
export function shorten(message: string): string {
  const text = joinBytes(message).toWellFormed();
  const half = LONGEST_MESSAGE / 2;
  return text.length <= LONGEST_MESSAGE
    ? text
    : `${text.slice(0, half)}…${text.slice(-half)}`.toWellFormed();
}

/** Returns the text of a template without any action. */
function fixedText(trees: Trees): Template['fixed'] {
  const texts = (trees.get('')?.nodes ?? []).map(node =>
    node.kind === 'text' ? node.text : undefined,
  );
  return texts.includes(undefined) ? undefined : { text: texts.join('') };
}
