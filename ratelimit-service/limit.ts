import type { ComparableForms } from '#resources/labels/label-meanings.ts';
import type { LabelPattern } from '#resources/labels/label-pattern.ts';
import type { Template } from '#resources/template/template.ts';
import type { Unit } from './window.ts';

/**
 * What happens to requests over the rate: a 429, or only a note. See
 * docs/reference/kinds/rate-limit.md.
 */
export type Action = 'Enforce' | 'LogOnly';

/** A text without template actions is a plain string. It needs no evaluation. */
export type Text = string | Template;

/** `name` in lower case. */
export type HeaderTemplate = { readonly name: string; readonly value: Text };

/** An undefined `body` means that there is none. */
export type ErrorResponse = {
  readonly headers: readonly HeaderTemplate[];
  readonly body: Text | undefined;
};

/** A limit, ready to decide with. */
export type Limit = {
  readonly domain: string;
  readonly name: string;
  readonly action: Action;
  /** With values in the form in which they are compared. */
  readonly pattern: LabelPattern;
  /** The forms of the labels of its domain. */
  readonly forms: ComparableForms;
  /** Equal for equal patterns only. */
  readonly canonical: string;
  /** Requests per unit. 0 rejects all. */
  readonly rate: number;
  readonly unit: Unit;
  /**
   * Begins the key of each of its counters. It is equal for limits of equal domain, pattern and
   * unit, whatever else they say. So a limit that is renamed, moved or given another rate goes on
   * counting where it was. No counter's prefix begins another's.
   */
  readonly counter: string;
  readonly requestHeaders: readonly HeaderTemplate[];
  readonly responseHeaders: readonly HeaderTemplate[];
  readonly errorResponse: ErrorResponse | undefined;
};
