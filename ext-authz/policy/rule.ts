import type { HttpRequest } from '#ext-authz/http/http-request.ts';

/** A rule of a FilterPolicy, ready to decide with. See docs/reference/kinds/filter-policy.md. */
export type Rule = {
  /** `<namespace>/<name>` of its FilterPolicy and its index there, for logs. */
  readonly id: string;
  /** Globs. The host is in lower case. */
  readonly host: string;
  readonly path: string;
  /**
   * The rule of a route whose requests it is for, as the control plane names it. Host and path do
   * not count. Absent: they decide.
   */
  readonly routeRule?: string;
  /** Empty when the request is allowed. */
  readonly items: readonly RuleItem[];
};

/**
 * Finds the rule of requests by their host and path.
 * @returns undefined when there is none, or the path can be read in two ways
 */
export type RuleAt = (request: Pick<HttpRequest, 'authority' | 'target'>) => Rule | undefined;

export type Next = 'break' | 'continue';

/** A filter that a rule, or `insteadOfRedirect`, refers to. */
export type RuleItem = {
  /** `<namespace>/<name>` of the Filter. */
  readonly filter: string;
  /** Tests the rule's `ifRequestHeader`. Without one it is always true. */
  readonly applies: (request: HttpRequest) => boolean;
  /** Present where there is no `ifRequestHeader`. */
  readonly always?: true;
  readonly onDeny: Next;
  readonly onAllow: Next;
  readonly arguments: RuleArguments;
};

export type SameSite = 'lax' | 'strict' | 'none';

/** The arguments of a rule. A JWT filter reads `scope` alone. */
export type RuleArguments = {
  /** Without duplicates. Undefined means the default of the filter's type and grant type. */
  readonly scope: readonly string[] | undefined;
  readonly insteadOfRedirect: InsteadOfRedirect | undefined;
  /** Undefined means no attribute. */
  readonly sameSite: SameSite | undefined;
};

export type InsteadOfRedirect = {
  /** Tests its `ifRequestHeader`. Without one it is always true. */
  readonly applies: (request: HttpRequest) => boolean;
  /** 400 to 599. Undefined when `items` decide. */
  readonly status: number | undefined;
  /** JWT filters only. At least one when `status` is undefined. */
  readonly items: readonly RuleItem[];
};
