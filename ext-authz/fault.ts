import { answerPage } from './answer-page.ts';
import type { HttpRequest } from './http-request.ts';
import type { Answer } from './outcome.ts';
import { ProviderError } from './provider/provider-error.ts';
import { StoreUnavailable } from './store/record-store.ts';

/** Why a check failed by no fault of the client's, as metrics and logs name it. */
export type Fault = 'missing_filter' | 'provider' | 'provider_timeout' | 'store' | 'timeout' | 'internal';

const ANSWERS: Readonly<Record<Fault, readonly [status: number, message: string]>> = {
  missing_filter: [500, 'This path is closed: its configuration has an error.'],
  provider: [502, 'The identity provider cannot be used at the moment.'],
  provider_timeout: [504, 'The identity provider did not answer in time.'],
  store: [503, 'The session store cannot be reached at the moment.'],
  timeout: [503, 'The check of this request took too long.'],
  internal: [500, 'Internal error.'],
};

/** A fault, its `cause`, whose answer the filter words itself. */
export class WordedFault extends Error {
  override readonly name = 'WordedFault';
  readonly answer: Answer;
  /** Of the Filter, where no rule names it. */
  readonly realm: string | undefined;

  constructor(cause: unknown, answer: Answer, realm?: string) {
    super('a fault', { cause });
    this.answer = answer;
    this.realm = realm;
  }
}

/** Which fault an error of a filter stands for. Source: decisions, "OAuth2: errors and pages". */
export function faultOf(error: unknown): Fault {
  if (error instanceof WordedFault) return faultOf(error.cause);
  if (error instanceof ProviderError) return error.code === 'timeout' ? 'provider_timeout' : 'provider';
  return error instanceof StoreUnavailable ? 'store' : 'internal';
}

/** The client learns the kind of fault and no more: the reason is the operator's, in the log. */
export function faultAnswer(asker: Pick<HttpRequest, 'headers' | 'id'>, fault: Fault): Answer {
  return answerPage(asker, faultFacts(fault));
}

/** What the client learns of a fault. */
export function faultFacts(fault: Fault): { readonly status: number; readonly message: string } {
  const [status, message] = ANSWERS[fault];
  return { status, message };
}
