import { answerPage } from '#ext-authz/http/answer-page.ts';
import type { GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import type { Page } from '#ext-authz/http/html-page.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { ProviderError } from '#ext-authz/provider/provider-error.ts';
import { StoreUnavailable } from '#ext-authz/store/record-store.ts';

/** Why a check failed by no fault of the client, as metrics and logs name it. */
export type Fault =
  | 'missing_filter'
  | 'provider'
  | 'provider_timeout'
  | 'store'
  | 'timeout'
  | 'internal';

/** What the client learns about a fault. */
export type FaultFacts = Pick<Page, 'status' | 'message' | 'advice' | 'headers'>;

const WAIT = 'Nothing is wrong with your account. Wait a moment, then load this page again.';
const TELL = 'If it stays so, tell the people who run this site the request ID.';

const ANSWERS: Readonly<Record<Fault, FaultFacts>> = {
  missing_filter: {
    status: 500,
    message: 'This path is closed: its configuration has an error.',
    advice: TELL,
  },
  provider: {
    status: 502,
    message: 'The identity provider cannot be used at the moment.',
    advice: `${WAIT} ${TELL}`,
  },
  provider_timeout: {
    status: 504,
    message: 'The identity provider did not answer in time.',
    advice: `${WAIT} ${TELL}`,
  },
  store: {
    status: 503,
    message: 'The session store cannot be reached at the moment.',
    advice: `${WAIT} ${TELL}`,
  },
  timeout: {
    status: 503,
    message: 'The check of this request took too long.',
    advice: `${WAIT} ${TELL}`,
  },
  internal: { status: 500, message: 'Internal error.', advice: TELL },
};

/** A fault whose answer the filter words itself. The fault is its `cause`. */
export class WordedFault extends Error {
  override readonly name = 'WordedFault';
  readonly answer: GatewayAnswer;
  /** The Filter's, where no rule names it. */
  readonly realm: string | undefined;

  constructor(cause: unknown, answer: GatewayAnswer, realm?: string) {
    super('a fault', { cause });
    this.answer = answer;
    this.realm = realm;
  }
}

/** Returns which fault an error of a filter stands for. See docs/reference/status-codes.md. */
export function faultOf(error: unknown): Fault {
  if (error instanceof WordedFault) return faultOf(error.cause);
  if (error instanceof ProviderError)
    return error.code === 'timeout' ? 'provider_timeout' : 'provider';
  return error instanceof StoreUnavailable ? 'store' : 'internal';
}

/** As `faultAnswer`, for an error of a filter. */
export function errorAnswer(
  asker: Pick<HttpRequest, 'headers' | 'id'>,
  error: unknown,
): GatewayAnswer {
  return answerPage(asker, errorFacts(error));
}

/**
 * Answers with the kind of fault and no more. The reason is for the operator, and is in the log.
 */
export function faultAnswer(
  asker: Pick<HttpRequest, 'headers' | 'id'>,
  fault: Fault,
): GatewayAnswer {
  return answerPage(asker, ANSWERS[fault]);
}

/** In seconds. What a provider says is not trusted beyond it. */
const LONGEST_WAIT_S = 3_600;

/**
 * Returns what the client learns about an error of a filter. Where the provider says when it wants
 * to be asked again, the client is told too.
 */
export function errorFacts(error: unknown): FaultFacts {
  const facts = ANSWERS[faultOf(error)];
  const wait = error instanceof ProviderError ? error.retryAfter : undefined;
  if (wait === undefined) return facts;
  const seconds = Math.min(LONGEST_WAIT_S, Math.max(1, Math.ceil(wait / 1_000)));
  return { ...facts, headers: [['retry-after', `${seconds}`]] };
}
