/** A value of Go's, as templates see it. */
export type GoValue = unknown;
