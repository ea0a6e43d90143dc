import type { Parsed } from '../parsed-string.ts';
import type { GoValue } from './go-value.ts';

/** Which functions a template may call, besides Go's own: `header` has hasKey and doNotSet, `body` hasKey and json. */
export type TemplateUse = 'header' | 'body';

export type Template = { readonly text: string };

/** What a template gave: text, nothing (`doNotSet` was called), or why it failed. */
export type Rendered = { readonly text: string } | { readonly doNotSet: true } | { readonly error: string };

/** Parses a Go text/template. The error names line and what is wrong, in Go's words where Go has them. */
export function parseTemplate(text: string, _use: TemplateUse): Parsed<Template> {
  return { value: { text } };
}

/** Evaluates a template. Never throws; bounded in steps and in size of the output. */
export function renderTemplate(_template: Template, _data: GoValue): Rendered {
  throw new Error('not built yet');
}
