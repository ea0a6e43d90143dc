export type Severity = 'error' | 'warning';

/**
 * A mistake of the operator, as data. It says what is wrong, where, and in plain words what to do
 * about it. `file` and `line` (from 1) point at the very field. `field` is its path, such as
 * `spec.virtual_hosts[0].name`. With an error the resource is left out. With a warning it is
 * served. A secret's value is never in any of it.
 */
export type Problem = {
  readonly severity: Severity;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly field?: string;
  readonly message: string;
  /**
   * When it began, ISO 8601. Only what passes without an edit has it, such as a service that does
   * not answer.
   */
  readonly since?: string;
  /** A service found it in what it was sent. It says nothing of whether requests arrive. */
  readonly reported?: true;
};
