import htm from 'htm';
import { type ComponentChildren, h, type VNode } from 'preact';

/** Makes elements of a template. Text in it is text and never markup. */
export const html = htm.bind(h) as unknown as (
  strings: TemplateStringsArray,
  ...values: unknown[]
) => VNode;

export type Children = { readonly children?: ComponentChildren };
export type Shown = VNode | null;
