/**
 * An answer to the client instead of the upstream's. Several fields of one name, such as
 * Set-Cookie, stand one after the other.
 */
export type Answer = {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  readonly note?: AnswerNote;
};

/**
 * For the log alone, where an answer does not tell why: nothing secret, and nothing for the client.
 */
export type AnswerNote = {
  readonly reason: string;
  /** Of the Filter, `<name>.<namespace>`, where no rule names it. */
  readonly realm?: string;
};

/**
 * What a filter does to a request that it lets pass. Names are in lower case; none is both set and
 * removed.
 */
export type Change = {
  /** Replace what is there. */
  readonly set: ReadonlyMap<string, string>;
  readonly remove: ReadonlySet<string>;
  /** Added to the upstream's answer: cookies that are renewed. */
  readonly responseHeaders: readonly (readonly [name: string, value: string])[];
  /** Cookies by name that go on with this value alone, since another was planted. */
  readonly cookies?: ReadonlyMap<string, string>;
  /** Where the same change comes again, as long as a session is the same. */
  readonly memory?: ChangeMemory;
};

/** What need not be found out again of a change that comes again. */
export type ChangeMemory = {
  /** It may go to Envoy: see check-change.ts. */
  isFaultless: boolean;
  /** The latest answer that was made of it. */
  answered: Answered | undefined;
};

/** The bytes of an answer, and what they were made of besides the change. */
export type Answered = {
  readonly headers: RuleHeaders;
  readonly cookies: readonly string[];
  readonly response: EncodedResponse;
};

/**
 * A filter either answers or lets the request pass, changed. Source: docs/adr/0011-ext-authz.md.
 */
export type Outcome =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'allow'; readonly change: Change };

export const NO_CHANGE: Change = { set: new Map(), remove: new Set(), responseHeaders: [] };

/** What of a rule's filters concerns the request's headers. */
export type RuleHeaders = {
  /** The identities of all headers that one of its filters may inject. */
  readonly injected: ReadonlySet<string>;
  /** The client's own `Authorization` goes no further, unless a JWT filter has allowed it. */
  readonly hasOAuth2: boolean;
  /**
   * How long the names of headers are that are injected or settled after the chain: of most headers
   * nothing else need be asked.
   */
  readonly lengths: ReadonlySet<number>;
  /** One of them may set `Authorization`: the client's own goes no further, checked or not. */
  readonly injectsAuthorization: boolean;
};

/** One that is written already. */
export type EncodedResponse = { readonly encoded: Uint8Array };
