import type { GoValue } from '#resources/template/go-type.ts';
import { once } from '#xds/remembered.ts';
import { type LimitStatus, type RequestVerdict, refuses } from './judge.ts';
import type { Limit } from './limit.ts';
import {
  addHeader,
  addHeaders,
  type HeaderList,
  renderBody,
  type TemplateFailure,
} from './render.ts';
import { errorData, injectData } from './template-data.ts';
import { retryAfterSeconds } from './window.ts';
import {
  type DescriptorStatus,
  OK,
  OVER_LIMIT,
  type RateLimitResponse,
  type Struct,
  UNIT_NUMBERS,
} from './wire.ts';

const TOO_MANY_REQUESTS = 429;
const MESSAGE = 'rate limit exceeded';
const UNMATCHED: DescriptorStatus = { code: OK };

/** A response, with the templates that failed, for the log and metrics. */
export type Responded = {
  readonly response: RateLimitResponse;
  readonly failures: readonly TemplateFailure[];
};

/** The parts of an answer while they are gathered. */
type Draft = {
  readonly responseHeaders: HeaderList;
  readonly requestHeaders: HeaderList;
  readonly failures: TemplateFailure[];
};

/**
 * Returns the response that tells Envoy a verdict. `requestId` is for error templates alone.
 *
 * Headers of all limits that apply are added, once per name. Those of errorResponse come first,
 * then Retry-After, then the others by group and limit. A 429 has no headers for the upstream,
 * which does not see the request. Envoy sends a body without a Content-Type from errorResponse as
 * text/plain. See docs/reference/kinds/rate-limit.md.
 */
export function respond(verdict: RequestVerdict, requestId: string): Responded {
  const draft = { responseHeaders: emptyList(), requestHeaders: emptyList(), failures: [] };
  const body = verdict.over ? refuse(verdict, requestId, draft) : null;
  addInjected(verdict, draft);
  return { response: toResponse(verdict, draft, body), failures: draft.failures };
}

function toResponse(
  verdict: RequestVerdict,
  draft: Draft,
  body: Uint8Array | null,
): RateLimitResponse {
  const { over, groups, recorded } = verdict;
  return {
    overall_code: over ? OVER_LIMIT : OK,
    statuses: groups.map(({ shown }) => (shown === undefined ? UNMATCHED : toStatus(shown))),
    response_headers_to_add: draft.responseHeaders.headers,
    request_headers_to_add: draft.requestHeaders.headers,
    raw_body: body,
    dynamic_metadata: recorded === undefined ? null : toMetadata(recorded),
  };
}

function toStatus(status: LimitStatus): DescriptorStatus {
  const { limit, remaining, resetMs } = status;
  return {
    code: refuses(status) ? OVER_LIMIT : OK,
    current_limit: {
      name: limit.name,
      requests_per_unit: limit.rate,
      unit: UNIT_NUMBERS[limit.unit],
    },
    limit_remaining: remaining,
    duration_until_reset: toDuration(resetMs),
  };
}

function toDuration(ms: number): { readonly seconds: number; readonly nanos: number } {
  const seconds = Math.floor(ms / 1_000);
  return { seconds, nanos: Math.floor((ms - seconds * 1_000) * 1_000_000) };
}

/** See docs/reference/kinds/rate-limit.md. */
function toMetadata({ limit, resetMs }: LimitStatus): Struct {
  return {
    fields: {
      'gw.ratelimit.name': { string_value: limit.name },
      'gw.ratelimit.action': { string_value: limit.action },
      'gw.ratelimit.retry_after': { number_value: retryAfterSeconds(resetMs) },
    },
  };
}

/** Adds the headers of a 429, and returns its body or null when it has none. */
function refuse(verdict: RequestVerdict, requestId: string, draft: Draft): Uint8Array | null {
  const { recorded } = verdict;
  if (recorded === undefined) return null;
  const { limit, resetMs } = recorded;
  const data = once(() =>
    errorData(verdict, { statusCode: TOO_MANY_REQUESTS, message: MESSAGE, requestId }),
  );
  const body = errorBody(limit, requestId, data, draft);
  const report = reporter(limit, 'errorResponse.headers', draft);
  addHeaders(draft.responseHeaders, limit.errorResponse?.headers ?? [], data, report);
  addHeader(draft.responseHeaders, 'retry-after', String(retryAfterSeconds(resetMs)));
  return body;
}

function errorBody(
  limit: Limit,
  requestId: string,
  data: () => GoValue,
  draft: Draft,
): Uint8Array | null {
  const template = limit.errorResponse?.body;
  if (template === undefined) return null;
  const body = renderBody(template, data);
  if ('bytes' in body) return body.bytes.length === 0 ? null : body.bytes;
  draft.failures.push({
    limit: limit.name,
    field: 'errorResponse.bodyTemplate',
    error: body.error,
  });
  addHeader(draft.responseHeaders, 'content-type', 'application/json');
  return failedBody(limit, requestId);
}

/** The answer stays a 429. The body adds what went wrong. */
function failedBody(limit: Limit, requestId: string): Uint8Array {
  const message = `errorResponse.bodyTemplate of limit ${limit.name} failed`;
  return Buffer.from(`${JSON.stringify({ message, request_id: requestId, status_code: 500 })}\n`);
}

function addInjected(verdict: RequestVerdict, draft: Draft): void {
  const data = once(() => injectData(verdict));
  for (const { statuses } of verdict.groups) {
    for (const { limit } of statuses) {
      addHeaders(
        draft.responseHeaders,
        limit.responseHeaders,
        data,
        reporter(limit, 'injectResponseHeaders', draft),
      );
      if (verdict.over) continue;
      addHeaders(
        draft.requestHeaders,
        limit.requestHeaders,
        data,
        reporter(limit, 'injectRequestHeaders', draft),
      );
    }
  }
}

function reporter(limit: Limit, field: TemplateFailure['field'], { failures }: Draft) {
  return (header: string, error: string) => {
    failures.push({ limit: limit.name, field, header, error });
  };
}

function emptyList(): HeaderList {
  return { headers: [], names: new Set() };
}
