/** One label of a label group, as it is on the request. */
export type Label = { readonly key: string; readonly value: string };

/** Matches a label of this key; without `value`, whatever its value is. */
export type LabelAlternative = { readonly key: string; readonly value?: string };

/** Matches a label when any of its alternatives does; never empty. */
export type PatternLabel = readonly LabelAlternative[];

/** What a label group must start with, in this order. Empty: every group. Source: document 2, "Pattern matching rules". */
export type LabelPattern = readonly PatternLabel[];
