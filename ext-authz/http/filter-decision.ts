/**
 * An answer to the client in place of the upstream's. Several fields of one name, such as
 * Set-Cookie, stand one after the other.
 */
export type GatewayAnswer = {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  readonly note?: AnswerNote;
};

/**
 * What only the log says, where an answer does not tell why. Nothing in it is secret, and none of
 * it is for the client.
 */
export type AnswerNote = {
  readonly reason: string;
  /** The Filter's, `<name>.<namespace>`, where no rule names it. */
  readonly realm?: string;
};

/**
 * What a filter does to a request that it lets pass. Names are in lower case. None is both set and
 * removed.
 */
export type Change = {
  /** Replaces what is there. */
  readonly set: ReadonlyMap<string, string>;
  readonly remove: ReadonlySet<string>;
  /** Added to the upstream's answer, for cookies that are renewed. */
  readonly responseHeaders: readonly (readonly [name: string, value: string])[];
  /** Cookies by name that go on with this value alone, because another was planted. */
  readonly cookies?: ReadonlyMap<string, string>;
  /** Present where the same change is repeated, as long as a session is the same. */
  readonly memory?: ChangeMemory;
  /**
   * How long it holds for requests with the same cookies, in ms, where its Filter lets proxies
   * remember it. Without `memory` it says nothing, since the change depends on the request.
   */
  readonly holds?: number;
};

/** What need not be found out again about a change that is repeated. */
export type ChangeMemory = {
  /** Whether it may go to Envoy. See check-change.ts. */
  isFaultless: boolean;
  /** The latest answer that was made of it. */
  answered: RememberedResponse | undefined;
};

/** The bytes of an answer, and what they were made of besides the change. */
export type RememberedResponse = {
  readonly headers: RuleHeaders;
  readonly cookies: readonly string[];
  readonly holds: number;
  readonly response: EncodedResponse;
};

/** A filter either answers or lets the request pass, changed. See docs/adr/0011-ext-authz.md. */
export type FilterDecision =
  | { readonly kind: 'answer'; readonly answer: GatewayAnswer }
  | { readonly kind: 'allow'; readonly change: Change };

export const NO_CHANGE: Change = { set: new Map(), remove: new Set(), responseHeaders: [] };

/** What concerns a request's headers in the filters of a rule. */
export type RuleHeaders = {
  /** The identities of all headers that one of its filters may inject. */
  readonly injected: ReadonlySet<string>;
  /** The client's own `Authorization` goes no further, unless a JWT filter has allowed it. */
  readonly hasOAuth2: boolean;
  /**
   * The lengths of the names of headers that are injected or settled after the chain. Most headers
   * have another length, and need no further look.
   */
  readonly lengths: ReadonlySet<number>;
  /**
   * Whether one of them may set `Authorization`. The client's own then goes no further, checked or
   * not.
   */
  readonly injectsAuthorization: boolean;
  /**
   * Names the rule to proxies where they may remember its decisions. Absent: a decision may depend
   * on more than the session.
   */
  readonly rememberedAs?: string;
};

/** A response that is encoded already. */
export type EncodedResponse = { readonly encoded: Uint8Array };
