import { status } from '@grpc/grpc-js';
import type { Any } from '#protos/encode.ts';
import { REPORT } from '#protos/type-url.ts';
import { type ErrorDetail, WILDCARD } from './discovery.ts';
import type { StreamInfo } from './discovery-observer.ts';
import type { Refusal } from './request-check.ts';

/**
 * Maximum size of a report in bytes. A client that sends more has its stream ended. So no client
 * sends more than servers of other versions accept.
 */
export const MAX_REPORT_BYTES = 1024 * 1024;

/**
 * Hears what clients find wrong with what they were sent and have accepted. This is no part of
 * Envoy's protocol. A report is a delta request of the type REPORT, in whose `error_detail.details`
 * it stands. Each report replaces the stream's earlier one, and ends with the stream. A stream may
 * only report.
 */
export type ReportTaker = {
  /** The groups that may report. */
  readonly groups: ReadonlySet<string>;
  /**
   * Takes a report. Undefined means that there is nothing to tell any more, or that the stream has
   * ended.
   * @returns why the report is invalid, or undefined when it was accepted
   */
  take(stream: StreamInfo, report: Any | undefined): string | undefined;
};

/** Sent by a server that accepts no reports of this group, perhaps because its version is older. */
export const NO_REPORTS = 'this group does not report';

/**
 * Passes a report on.
 * @returns why it ends its stream, or undefined when it does not
 */
export function takeReport(
  taker: ReportTaker,
  stream: StreamInfo,
  detail: ErrorDetail | null | undefined,
): Refusal | undefined {
  if (!taker.groups.has(stream.group))
    return { code: status.PERMISSION_DENIED, details: NO_REPORTS };
  const [report, more] = detail?.details ?? [];
  if (more !== undefined)
    return { code: status.INVALID_ARGUMENT, details: 'want one report at a time' };
  if (report !== undefined && report.value.length > MAX_REPORT_BYTES)
    return {
      code: status.RESOURCE_EXHAUSTED,
      details: `the report has more than ${MAX_REPORT_BYTES} bytes`,
    };
  const wrong = taker.take(stream, report);
  return wrong === undefined ? undefined : { code: status.INVALID_ARGUMENT, details: wrong };
}

/**
 * Returns the request that reports. A server that does not know reports sees an empty subscription,
 * so it sends no answer.
 */
export function reportRequest(report: Any | undefined): object {
  const details = report === undefined ? [] : [report];
  return {
    type_url: REPORT,
    resource_names_unsubscribe: [WILDCARD],
    error_detail: { code: status.OK, message: '', details },
  };
}
