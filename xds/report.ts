import { status } from '@grpc/grpc-js';
import type { Any } from '#protos/encode.ts';
import { REPORT } from '#protos/type-url.ts';
import { type ErrorDetail, WILDCARD } from './discovery.ts';
import type { StreamInfo } from './discovery-observer.ts';
import type { Refusal } from './request-check.ts';

/**
 * A report may have so many bytes. Who sends more has its stream ended, so that no client may begin
 * to send more than servers of other versions take.
 */
export const MAX_REPORT_BYTES = 1024 * 1024;

/**
 * Hears what clients find wrong with what they were sent and have taken. It is no part of the
 * protocol of Envoy: a delta request of the type REPORT, in whose `error_detail.details` the report
 * is. Each one replaces the stream's earlier one; it is over when the stream is. A stream may do
 * nothing but report.
 */
export type ReportTaker = {
  /** The groups that may. */
  readonly groups: ReadonlySet<string>;
  /**
   * Undefined: there is nothing to tell any more, or the stream is over. Gives why the report is
   * none; undefined: it is taken.
   */
  take(stream: StreamInfo, report: Any | undefined): string | undefined;
};

/** Of a server that hears no reports of this group, perhaps because it is of an earlier version. */
export const NO_REPORTS = 'this group does not report';

/** Why the report ends its stream; undefined: it does not. */
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
 * The request that reports. Of a server that knows no reports it subscribes to nothing, so that
 * there is no answer to wait for.
 */
export function reportRequest(report: Any | undefined): object {
  const details = report === undefined ? [] : [report];
  return {
    type_url: REPORT,
    resource_names_unsubscribe: [WILDCARD],
    error_detail: { code: status.OK, message: '', details },
  };
}
