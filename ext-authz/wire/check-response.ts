import { STATUS_CODES } from 'node:http';
import type { Change, GatewayAnswer } from '#ext-authz/http/filter-decision.ts';
import { isGrpc } from '#ext-authz/http/grpc.ts';
import { cookieText } from '#ext-authz/http/header-text.ts';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';

/** A google.rpc.Code. Envoy only looks whether it is OK. */
const OK = 0;
const PERMISSION_DENIED = 7;

/**
 * `envoy.config.core.v3.HeaderValueOption.HeaderAppendAction`. The older field `append` is never
 * set, because Envoy would fail.
 */
const APPEND_IF_EXISTS_OR_ADD = 0;
const OVERWRITE_IF_EXISTS_OR_ADD = 2;

export type HeaderOption = {
  readonly header: { readonly key: string; readonly value: string };
  readonly append_action: number;
};

/** An `envoy.service.auth.v3.CheckResponse` as encodeCheck writes it. */
export type CheckResponse = {
  readonly status: { readonly code: number };
  readonly ok_response?: {
    readonly headers: readonly HeaderOption[];
    readonly headers_to_remove: readonly string[];
    readonly response_headers_to_add: readonly HeaderOption[];
  };
  readonly denied_response?: {
    readonly status: { readonly code: number };
    readonly headers: readonly HeaderOption[];
    readonly body: string;
  };
  /** A `google.protobuf.Struct` of texts. Logs have it, so nothing in it is secret. */
  readonly dynamic_metadata?: Readonly<Record<string, string>>;
};

/**
 * Returns a response that lets the request go on with this change. Envoy would remove a name that
 * is both set and removed, so it is only set. An answer that gets cookies may be kept by no cache,
 * because a shared one would give a session to everybody (RFC 9111 section 7.3).
 */
export function allowResponse({ set, remove, responseHeaders }: Change): CheckResponse {
  return {
    status: { code: OK },
    ok_response: {
      headers: [...set].map(([name, value]) => replace(name, value)),
      headers_to_remove: [...remove].filter(name => !set.has(name)),
      response_headers_to_add:
        responseHeaders.length === 0
          ? []
          : [
              ...responseHeaders.map(([name, value]) => add(name, value)),
              replace('cache-control', 'no-store'),
            ],
    },
  };
}

/**
 * Returns a response with which the client gets this answer. A gRPC client gets 401 instead of a
 * redirect, one plain line and no cookies. Envoy makes grpc-status of the HTTP status and
 * grpc-message of the body. See docs/adr/0011-ext-authz.md.
 */
export function denyResponse(
  request: Pick<HttpRequest, 'headers'>,
  answer: GatewayAnswer,
): CheckResponse {
  const { status, headers, body } = isGrpc(request) ? forGrpc(answer) : answer;
  return {
    status: { code: PERMISSION_DENIED },
    denied_response: { status: { code: status }, headers: toOptions(headers), body },
  };
}

/**
 * The first of a name replaces what Envoy itself would say. Further ones, such as a second
 * Set-Cookie, are added after it.
 */
function toOptions(headers: GatewayAnswer['headers']): readonly HeaderOption[] {
  const seen = new Set<string>(['set-cookie']);
  return headers.map(([name, value]) => {
    const lower = name.toLowerCase();
    const option = seen.has(lower) ? add(lower, value) : replace(lower, value);
    seen.add(lower);
    return option;
  });
}

function forGrpc({ status, headers, body }: GatewayAnswer): GatewayAnswer {
  const code = status < 400 ? 401 : status;
  const kept = headers.filter(([name]) => !LEFT_OUT.has(name.toLowerCase()));
  return {
    status: code,
    headers: [['content-type', 'text/plain'], ...kept],
    body: lineOf(body, headers) ?? STATUS_CODES[code] ?? 'refused',
  };
}

const LEFT_OUT: ReadonlySet<string> = new Set(['content-type', 'location', 'set-cookie']);

/** Returns the message of a JSON answer, else the text itself, which may be a template's. */
function lineOf(body: string, headers: GatewayAnswer['headers']): string | undefined {
  const isPage = headers.some(
    ([name, value]) => name.toLowerCase() === 'content-type' && /html/i.test(value),
  );
  if (isPage || body.trim() === '') return undefined;
  return (messageOf(body) ?? body.trim()).replace(/[^\x20-\x7e]+/g, ' ').slice(0, 500);
}

function messageOf(body: string): string | undefined {
  try {
    const { message } = JSON.parse(body) as { readonly message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}

function replace(name: string, value: string): HeaderOption {
  return { header: headerOf(name, value), append_action: OVERWRITE_IF_EXISTS_OR_ADD };
}

function add(name: string, value: string): HeaderOption {
  return { header: headerOf(name, value), append_action: APPEND_IF_EXISTS_OR_ADD };
}

function headerOf(key: string, value: string): HeaderOption['header'] {
  return { key, value: key === 'cookie' ? cookieText(value) : value };
}
