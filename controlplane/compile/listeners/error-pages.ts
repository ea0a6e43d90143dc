import type { Json, JsonObject } from '#protos/json.ts';
import { contentTypeOf } from '#resources/kinds/module/error-body.ts';
import type { ErrorResponseOverride } from '#resources/kinds/module/error-response-overrides.ts';
import { extension } from '../extension.ts';
import { setHeader } from '../header-option.ts';

/** Further fields of Envoy's own answers, and the answers that have them. */
export type LocalReplyHeaders = {
  readonly filter: JsonObject;
  readonly headers_to_add: readonly Json[];
};

/**
 * Answers of Envoy's own that get another status: an expression that holds for them, and the
 * status. Default of `message`: that of the status.
 */
export type Restated = {
  readonly when: string;
  readonly status: number;
  readonly message?: string;
};

type Page = {
  readonly when: string;
  readonly page: JsonObject;
  readonly headers?: readonly Json[];
  /** The only status that it is for. */
  readonly only?: number;
  /** The status that the answer gets. */
  readonly status?: number;
};

/** Told by name: an ext_authz or rate limit answer has the page of the service that decided. */
const DECIDED = "response.code_details in ['ext_authz_denied', 'request_rate_limited']";
const IS_ERROR = `response.code >= 400 && !(${DECIDED})`;
const IS_GRPC = "request.headers['content-type'].startsWith('application/grpc')";
/** A client inside the network may choose its request id. This one can stand in a page. */
const WANTS_HTML =
  "request.headers['accept'].contains('text/html') && request.headers['x-request-id'].matches('^[0-9A-Za-z-]+$')";

/**
 * Plain words for each answer that Envoy gives by itself. They hold nothing that a client sent. The
 * first condition that holds counts. A formatter ends at the first parenthesis, so the words have
 * none.
 */
const WORDS: readonly (readonly [condition: string, words: string])[] = [
  ['response.code == 404', 'Nothing is served at this address.'],
  ['response.code == 408', 'The request did not arrive in time.'],
  ['response.code == 413', 'The request is too large.'],
  ['response.code == 421', 'This connection is not for that host.'],
  ['response.code == 431', 'The header fields of the request are too large.'],
  ['response.code == 503', 'The service cannot be reached. Try again in a moment.'],
  ['response.code == 504', 'The service did not answer in time.'],
  [
    "response.code_details == 'direct_response' && response.code == 500",
    'This route is closed: its configuration has an error.',
  ],
  [
    "response.code_details == 'direct_response' && response.code == 403",
    'This host is served by https only.',
  ],
  ['response.code >= 500', 'The gateway could not answer this request.'],
];

const REJECTED = 'The gateway does not accept this request.';

const MESSAGE = `%CEL(${WORDS.reduceRight((rest, [condition, words]) => `${condition} ? '${words}' : ${rest}`, `'${REJECTED}'`)})%`;
const REQUEST_ID = '%REQ(X-REQUEST-ID)%';

const html = (message: string) =>
  [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>%RESPONSE_CODE%</title></head>',
    `<body><h1>%RESPONSE_CODE%</h1><p>${message}</p><p>Request id: ${REQUEST_ID}</p></body></html>`,
  ].join('');

/** The message of gRPC stays one line, in the trailers. */
const GRPC_PAGE: Page = { when: IS_GRPC, page: {} };

/** A message that fits the new status. */
const restatedGrpcPage = (inline_string: string): Page => ({
  when: IS_GRPC,
  page: { text_format_source: { inline_string } },
});

const pagesOf = (message: string): readonly Page[] => [
  {
    when: `${IS_ERROR} && ${WANTS_HTML}`,
    page: {
      text_format_source: { inline_string: html(message) },
      content_type: 'text/html; charset=utf-8',
    },
    headers: [setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'")],
  },
  {
    when: IS_ERROR,
    page: {
      json_format: { message, request_id: REQUEST_ID, status_code: '%RESPONSE_CODE%' },
    },
  },
];

/**
 * Returns Envoy's `LocalReplyConfig`. Answers that Envoy gives by itself have the operator's body
 * for the status. Without one they give the request id, in HTML for browsers, else in JSON. The
 * first of Envoy's mappers that holds counts, so each page stands there again for answers that have
 * more headers.
 */
export function errorPages(
  overrides: readonly ErrorResponseOverride[] = [],
  more: readonly LocalReplyHeaders[] = [],
  restated: readonly Restated[] = [],
): JsonObject {
  const own = overrides.map(overridePage);
  const all = [
    ...restated.flatMap(each => restatedPages(own, each)),
    GRPC_PAGE,
    ...own,
    ...pagesOf(MESSAGE),
  ];
  const pages = all.flatMap(page => [...more.map(each => mapper(page, each)), mapper(page)]);
  return { local_reply_config: { mappers: [...pages, ...more] } };
}

/** Returns the pages of the new status, which Envoy knows only once it has chosen one of them. */
function restatedPages(
  overrides: readonly Page[],
  { message = MESSAGE, status, when }: Restated,
): readonly Page[] {
  return [restatedGrpcPage(message), ...overrides, ...pagesOf(message)]
    .filter(({ only = status }) => only === status)
    .map(page => ({
      ...page,
      when: page.only === undefined ? `${when} && ${page.when}` : when,
      status,
    }));
}

/** An answer of ext-authz may have the content type of its former body already. */
function overridePage({ body, on_status_code }: ErrorResponseOverride): Page {
  const { json_format, text_format: inline_string = '' } = body;
  const isJson = json_format !== undefined;
  const type = contentTypeOf(body);
  return {
    when: `response.code == ${on_status_code}`,
    only: on_status_code,
    page: {
      ...(isJson ? { json_format } : { text_format_source: { inline_string } }),
      content_type: type,
    },
    headers: [setHeader('content-type', type)],
  };
}

function mapper({ headers = [], page, status, when }: Page, more?: LocalReplyHeaders): JsonObject {
  const shown = holds(when);
  const added = [...(more?.headers_to_add ?? []), ...headers];
  return {
    filter: more === undefined ? shown : { and_filter: { filters: [more.filter, shown] } },
    ...(status === undefined ? {} : { status_code: status }),
    ...(added.length === 0 ? {} : { headers_to_add: added }),
    ...(Object.keys(page).length === 0 ? {} : { body_format_override: page }),
  };
}

/** Returns an `AccessLogFilter` by an expression over Envoy's attributes. */
export function holds(expression: string): JsonObject {
  return {
    extension_filter: {
      name: 'envoy.access_loggers.extension_filters.cel',
      typed_config: extension('access_loggers.filters.cel.v3.ExpressionFilter', { expression }),
    },
  };
}
