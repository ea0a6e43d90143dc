import type { Any } from '#protos/encode.ts';
import type { Brought } from './brought.ts';

/**
 * The messages of envoy.service.discovery.v3 as protobufjs decodes them: absent messages are null,
 * absent scalars ''.
 */

export type Node = { readonly id: string; readonly cluster: string };

/** google.rpc.Status in an `error_detail`. Its presence, not its code, makes a request a NACK. */
export type ErrorDetail = {
  readonly code: number;
  readonly message: string;
  readonly details?: readonly Any[];
};

export type DiscoveryRequest = {
  readonly node: Node | null;
  readonly type_url: string;
  readonly version_info: string;
  readonly resource_names: readonly string[];
  readonly response_nonce: string;
  readonly error_detail: ErrorDetail | null;
};

export type DiscoveryResponse = {
  readonly version_info: string;
  readonly resources: readonly Any[];
  readonly type_url: string;
  readonly nonce: string;
};

export type DeltaDiscoveryRequest = {
  readonly node: Node | null;
  readonly type_url: string;
  readonly resource_names_subscribe: readonly string[];
  readonly resource_names_unsubscribe: readonly string[];
  readonly initial_resource_versions: Brought;
  readonly response_nonce: string;
  readonly error_detail: ErrorDetail | null;
};

export type DeltaResource = {
  readonly name: string;
  readonly version: string;
  readonly resource: Any;
  /** ms. Absent: no end. */
  readonly ttlMs?: number | undefined;
};

export type DeltaDiscoveryResponse = {
  readonly system_version_info: string;
  readonly resources: readonly DeltaResource[];
  readonly removed_resources: readonly string[];
  readonly type_url: string;
  readonly nonce: string;
};

/** The special name that subscribes to every resource of a type. */
export const WILDCARD = '*';
