import type { Logger } from 'pino';
import type { Fault } from '#ext-authz/chain/fault.ts';
import type { AnswerNote } from '#ext-authz/http/filter-decision.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { cutText } from '#grpc/cut-text.ts';
import type { CheckOutcome } from './metrics.ts';

/** In characters. A client may write 60 KiB into any of them. */
const LONGEST = 200;

/** Where an answer of the gateway comes from. */
export type LoggedAnswer = {
  readonly outcome: CheckOutcome;
  readonly status: number;
  readonly rule: string | undefined;
  readonly filter: string | undefined;
  readonly note: AnswerNote | undefined;
};

/** Writes the log of checks. Nothing that it writes is secret. */
export type CheckLog = {
  answered(request: HttpRequest, answered: LoggedAnswer): void;
  filterFailed(request: HttpRequest, filter: string, fault: Fault, error: unknown): void;
  /** `realm` is the Filter's, where it is known. */
  checkFailed(request: HttpRequest, fault: Fault, error: unknown, realm: string | undefined): void;
};

export function checkLog(log: Logger): CheckLog {
  return {
    answered: (request, { note, ...answered }) => {
      const level = note !== undefined && answered.status >= 500 ? 'error' : 'info';
      log[level]({ ...factsOf(request), ...answered, ...note }, 'answered');
    },
    filterFailed: (request, filter, fault, error) =>
      log.error(
        { ...factsOf(request), filter, fault, ...reasonOf(fault, error) },
        'a filter failed',
      ),
    checkFailed: (request, fault, error, realm) =>
      log.error({ ...factsOf(request), fault, realm, ...reasonOf(fault, error) }, 'a check failed'),
  };
}

/** Leaves out the query, in which codes and tokens may be, and the headers. */
function factsOf({ id, method, authority, target }: HttpRequest) {
  const path = target.split(/[?#]/, 1)[0] ?? '';
  const [request, verb, host] = [id, method, authority].map(text => cutText(text, LONGEST));
  return { request, method: verb, host, path: cutText(path, LONGEST) };
}

/** Messages of the adapters hold nothing secret. A mistake of ours is logged with its stack. */
function reasonOf(fault: Fault, error: unknown): object {
  if (fault === 'internal') return { err: error };
  return { reason: error instanceof Error ? error.message : String(error) };
}
