import type { ResourceState } from '#controlplane/status/resource-state.ts';
import type { Coverage, RoutePath } from './coverage.ts';

/** A Mapping, or a route of Gateways, as the list of routes shows it. */
export type RouteRow = Coverage & {
  readonly id: string;
  /** A Mapping has one. `*` stands for any. Empty where a route of Gateways has no requests. */
  readonly hosts: readonly string[];
  /** A Mapping has one. Empty for connections, which have no paths. */
  readonly paths: readonly RoutePath[];
  readonly services: readonly string[];
  readonly nodeGroup: string;
  /** The listeners of Gateways that serve it. A Mapping has none. */
  readonly listeners: readonly RouteListener[];
  /** Percent of the requests, where Mappings share a route. */
  readonly share?: number;
  /** What it does instead of forwarding. */
  readonly instead?: 'redirect' | 'shadow';
  readonly state: ResourceState;
  readonly errors: number;
  readonly warnings: number;
  readonly file: string;
  readonly line: number;
};

export type RouteListener = {
  /** `Gateway/namespace/name/section` or `ListenerSet/namespace/name/section`. */
  readonly id: string;
  readonly protocol: string;
  readonly port: number;
};

/** What does not depend on Filters, nor on what the proxies say. */
export type UnstatedRow = Omit<RouteRow, keyof Coverage | 'state' | 'errors' | 'warnings'>;
