import { status } from '@grpc/grpc-js';
import type { Brought } from './brought.ts';
import type { ErrorDetail, Node } from './discovery.ts';

/** How many names one stream may make the server remember. */
export const MAX_NAMES = 250_000;
export const MAX_TYPES = 32;
/** Bytes of all names of a stream together. */
export const MAX_BYTES = 16 * 1024 * 1024;
/** Bytes of the name of one resource. */
export const MAX_NAME_BYTES = 4_096;
/** Bytes of `node.id`, of `node.cluster` and of a type. These are logged and shown. */
export const MAX_ID_BYTES = 1_024;

/** The parts of a request, of either variant, that decide whether it is accepted at all. */
export type CheckedRequest = {
  readonly node: Node | null;
  readonly type_url: string;
  readonly resource_names?: readonly string[];
  readonly resource_names_subscribe?: readonly string[];
  readonly resource_names_unsubscribe?: readonly string[];
  readonly initial_resource_versions?: Brought;
  readonly error_detail?: ErrorDetail | null;
};

/** What the stream holds already. Undefined before its first request. */
export type StreamLoad = { readonly types: number; readonly names: number; readonly bytes: number };

export type Refusal = { readonly code: status; readonly details: string };

/**
 * Checks a request before it is used. `served` is the type of a per-type service, and undefined on
 * an aggregated stream. Only the first request of a stream must carry the node.
 * @returns why it ends its stream, or undefined when it is accepted
 */
export function checkRequest(
  request: CheckedRequest,
  served: string | undefined,
  load: StreamLoad | undefined,
): Refusal | undefined {
  const { size = 0, long = [] } = request.initial_resource_versions ?? {};
  return (
    (load === undefined ? checkNode(request.node) : undefined) ??
    checkType(request.type_url, served) ??
    checkLoad(request, size, load) ??
    checkNames(request) ??
    checkBrought(long)
  );
}

function checkNode(node: Node | null): Refusal | undefined {
  if (node === null || node.id === '')
    return invalid('the first request of a stream must carry node.id');
  if (isLongerThan(MAX_ID_BYTES, node.id)) return tooLong('node.id', MAX_ID_BYTES);
  if (isLongerThan(MAX_ID_BYTES, node.cluster)) return tooLong('node.cluster', MAX_ID_BYTES);
  return undefined;
}

function checkType(typeUrl: string, served: string | undefined): Refusal | undefined {
  if (isLongerThan(MAX_ID_BYTES, typeUrl)) return tooLong('type_url', MAX_ID_BYTES);
  if (served === undefined && typeUrl === '')
    return invalid('a request of an aggregated stream must carry type_url');
  if (served !== undefined && typeUrl !== '' && typeUrl !== served)
    return invalid(`this service serves ${served}, not ${typeUrl.slice(0, 200)}`);
  return undefined;
}

function checkLoad(
  request: CheckedRequest,
  brought: number,
  load: StreamLoad | undefined,
): Refusal | undefined {
  const { types, names, bytes } = load ?? { types: 0, names: 0, bytes: 0 };
  if (types > MAX_TYPES) return tooMuch(`${MAX_TYPES} types`);
  // Neither what is brought nor what is already there may pass the bound. They are not added,
  // because a request may repeat all of it.
  if (Math.max(names, brought, namesIn(request)) > MAX_NAMES) return tooMuch(`${MAX_NAMES} names`);
  // The message size bounds what a request can bring.
  return bytes > MAX_BYTES ? tooMuch(`${MAX_BYTES} bytes of names`) : undefined;
}

/**
 * Rejects a name that no resource can have. The API requires a name in the answer for an unknown
 * name.
 */
function checkNames(request: CheckedRequest): Refusal | undefined {
  for (const name of allNames(request)) {
    const refusal = checkName(name);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function checkName(name: string): Refusal | undefined {
  if (name === '') return invalid('the name of a resource is empty');
  return isLongerThan(MAX_NAME_BYTES, name)
    ? tooLong('the name of a resource', MAX_NAME_BYTES)
    : undefined;
}

/** Versions are stored like names, so they have the same bound. */
function checkBrought(brought: readonly (readonly [name: string, version: string])[]) {
  for (const [name, version] of brought) {
    const refusal = checkName(name);
    if (refusal !== undefined) return refusal;
    if (isLongerThan(MAX_NAME_BYTES, version))
      return tooLong('the version of a resource', MAX_NAME_BYTES);
  }
  return undefined;
}

function* allNames(request: CheckedRequest): Generator<string, undefined> {
  yield* request.resource_names ?? [];
  yield* request.resource_names_subscribe ?? [];
  yield* request.resource_names_unsubscribe ?? [];
}

/** Most texts are so short that their bytes need not be counted. */
function isLongerThan(bytes: number, text: string): boolean {
  return text.length > bytes / 4 && Buffer.byteLength(text) > bytes;
}

function namesIn(request: CheckedRequest): number {
  const {
    resource_names = [],
    resource_names_subscribe = [],
    resource_names_unsubscribe = [],
  } = request;
  return Math.max(
    resource_names.length,
    resource_names_subscribe.length + resource_names_unsubscribe.length,
  );
}

function invalid(details: string): Refusal {
  return { code: status.INVALID_ARGUMENT, details };
}

function tooLong(what: string, bytes: number): Refusal {
  return invalid(`${what} has more than ${bytes} bytes`);
}

function tooMuch(what: string): Refusal {
  return { code: status.RESOURCE_EXHAUSTED, details: `more than ${what} on one stream` };
}
