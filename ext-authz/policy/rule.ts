import type { HttpRequest } from '#ext-authz/http/http-request.ts';

/**
 * A rule of a FilterPolicy, ready to decide with. Source: docs/reference/kinds/filter-policy.md.
 */
export type Rule = {
  /** `<namespace>/<name>` of its FilterPolicy and its index there: for logs. */
  readonly id: string;
  /** Globs; the host in lower case. */
  readonly host: string;
  readonly path: string;
  /** None: the request is allowed. */
  readonly items: readonly RuleItem[];
};

export type Next = 'break' | 'continue';

/** A filter that a rule, or `insteadOfRedirect`, refers to. */
export type RuleItem = {
  /** `<namespace>/<name>` of the Filter. */
  readonly filter: string;
  /** The rule's `ifRequestHeader`; without one always true. */
  readonly applies: (request: HttpRequest) => boolean;
  readonly onDeny: Next;
  readonly onAllow: Next;
  readonly arguments: RuleArguments;
};

export type SameSite = 'lax' | 'strict' | 'none';

/** A JWT filter reads `scope` alone. */
export type RuleArguments = {
  /** Each value once; undefined: the default of the filter's type and grant type. */
  readonly scope: readonly string[] | undefined;
  readonly insteadOfRedirect: InsteadOfRedirect | undefined;
  /** undefined: no attribute */
  readonly sameSite: SameSite | undefined;
};

export type InsteadOfRedirect = {
  /** Its `ifRequestHeader`; without one always true. */
  readonly applies: (request: HttpRequest) => boolean;
  /** 400 to 599; undefined: `items` decide. */
  readonly status: number | undefined;
  /** JWT filters only; at least one when `status` is undefined. */
  readonly items: readonly RuleItem[];
};
