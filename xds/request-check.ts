import { status } from '@grpc/grpc-js';
import type { ErrorDetail, Node } from './discovery.ts';

/** What one stream may make us remember. */
export const MAX_NAMES = 100_000;
export const MAX_TYPES = 32;

/** The parts of a request, of either variant, that decide whether it is taken at all. */
export type CheckedRequest = {
  readonly node: Node | null;
  readonly type_url: string;
  readonly resource_names?: readonly string[];
  readonly resource_names_subscribe?: readonly string[];
  readonly resource_names_unsubscribe?: readonly string[];
  readonly initial_resource_versions?: Readonly<Record<string, string>>;
  readonly error_detail?: ErrorDetail | null;
};

/** What the stream holds already; undefined before its first request. */
export type StreamLoad = { readonly types: number; readonly names: number };

export type Refusal = { readonly code: status; readonly details: string };

/**
 * Why a request ends its stream; undefined when it is taken. `served` is the type of a per-type service,
 * undefined on an aggregated stream. Only the first request of a stream must carry the node.
 */
export function checkRequest(
  request: CheckedRequest,
  served: string | undefined,
  load: StreamLoad | undefined,
): Refusal | undefined {
  if (load === undefined && (request.node === null || request.node.id === '')) {
    return invalid('the first request of a stream must carry node.id');
  }
  if (served === undefined && request.type_url === '') {
    return invalid('a request of an aggregated stream must carry type_url');
  }
  if (served !== undefined && request.type_url !== '' && request.type_url !== served) {
    return invalid(`this service serves ${served}, not ${request.type_url.slice(0, 200)}`);
  }
  if (load !== undefined && load.types > MAX_TYPES) return tooMuch(`${MAX_TYPES} types`);
  // Neither what is brought nor what is already there may pass the bound; a request may repeat all of it.
  if (Math.max(load?.names ?? 0, namesIn(request)) > MAX_NAMES) return tooMuch(`${MAX_NAMES} names`);
  return undefined;
}

function namesIn(request: CheckedRequest): number {
  const { resource_names = [], resource_names_subscribe = [], resource_names_unsubscribe = [] } = request;
  const brought = Object.keys(request.initial_resource_versions ?? {});
  return Math.max(
    resource_names.length,
    resource_names_subscribe.length + resource_names_unsubscribe.length,
    brought.length,
  );
}

function invalid(details: string): Refusal {
  return { code: status.INVALID_ARGUMENT, details };
}

function tooMuch(what: string): Refusal {
  return { code: status.RESOURCE_EXHAUSTED, details: `more than ${what} on one stream` };
}
