import type { FilterName } from '#resources/kinds/filter/injected-headers.ts';
import type { LabelSelector } from '#resources/kinds/gateway-api/label-selector.ts';
import type { PolicyTarget } from '#resources/kinds/gateway-api/policy-target.ts';
import type { SpecOf } from '#resources/kinds/kinds.ts';
import type { Kind } from '#resources/kinds/known-kinds.ts';
import type { MappingMatch } from '#resources/kinds/mapping/mapping-match.ts';
import type { Unserved } from '#resources/schema/restrictions.ts';

/**
 * The lines of a resource's fields. They locate a field that turns out wrong beside other
 * resources. It is one text, since there may be 100,000 resources. Each line of it is `<lines after
 * its first> <field>`. A field on the line of the field above it is left out.
 */
export type FieldLines = string;

/**
 * Where a resource begins. `line` counts from 1. Line 0 means that it is in no file, and then
 * `file` is the place.
 */
export type Source = { readonly file: string; readonly line: number };

/** Formats `routes.yaml:3`, or the place of what is in no file. */
export function formatSource({ file, line }: Source): string {
  return file === '' || line === 0 ? file : `${file}:${line}`;
}

/** What counts of the `metadata` of a document, as Kubernetes gives it. */
export type ResourceMetadata = {
  readonly generation?: number;
  /** When the object was created, RFC 3339. */
  readonly created?: string;
  readonly labels?: Readonly<Record<string, string>>;
};

type ResourceOf<K extends Kind> = {
  readonly kind: K;
  /** Empty for kinds that have no namespace, as a GatewayClass. */
  readonly namespace: string;
  readonly name: string;
  /** `Mapping/default/user`, unique among the resources in force. */
  readonly id: string;
  readonly source: Source;
  /**
   * Covers what the spec means and the metadata, without its file, line or spelling. It is only for
   * comparing in memory, since it covers secrets.
   */
  readonly hash: string;
  readonly spec: SpecOf<K>;
  /** The hash of a Secret as it is written, where values of it came from elsewhere. */
  readonly writtenHash?: string;
  /**
   * Whether a part of it that has an error is left out, as a limit of a RateLimit. A last good
   * version that is whole goes before it.
   */
  readonly partial?: true;
  /** Where the limits of a RateLimit stand in the written list, if some of that are left out. */
  readonly limitsAt?: readonly number[];
  /** Absent for kinds of which no metadata counts. */
  readonly metadata?: ResourceMetadata;
  /** Where its fields stand. Absent when it is in no file. */
  readonly fieldLines?: FieldLines;
  /** Restrictions that it asks for and that are not served. Absent when there are none. */
  readonly unserved?: readonly Unserved[];
  /**
   * The whole document as it was written, to be kept and parsed again. A document that holds a
   * secret is never here.
   */
  readonly document?: Readonly<Record<string, unknown>>;
};

/**
 * One resource without error. `Resource` alone is the union over the kinds, discriminated by
 * `kind`.
 */
export type Resource<K extends Kind = Kind> = K extends Kind ? ResourceOf<K> : never;

/** What a rule of a rejected FilterPolicy covers, as far as it could be read. */
export type ReadableRule = { readonly host?: string; readonly path?: string };

/** What a rejected ProxyConfig would have served, as far as it could be read. */
export type ReadableHosts = {
  readonly node_group: string;
  readonly hosts: readonly {
    readonly domains: readonly string[];
    readonly prefixes: readonly string[];
  }[];
};

type RouteKind = 'HTTPRoute' | 'GRPCRoute' | 'TLSRoute' | 'TCPRoute' | 'UDPRoute';

/** What a rejected route covers, as far as it could be read. Its rules have no backends. */
export type ClosedRoute<K extends RouteKind = RouteKind> = K extends RouteKind
  ? { readonly kind: K; readonly spec: SpecOf<K> }
  : never;

/**
 * A resource with an error. It is left out, but known by name, so that its last good version can
 * stay in force.
 */
export type Rejected = {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly id: string;
  readonly source: Source;
  /**
   * The match of a Mapping, when it is right. Its requests are answered 500, so that they do not
   * fall through to a wider prefix.
   */
  readonly match?: MappingMatch;
  /**
   * The virtual hosts of a ProxyConfig. Their requests do not fall through to a wider prefix
   * either. Absent when they could not be read.
   */
  readonly virtualHosts?: ReadableHosts;
  /** The labels of a Mapping, by which Hosts choose it. Absent when it has none. */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * What the rules of a FilterPolicy cover. When it is absent nothing could be read, and they cover
   * any host and path.
   */
  readonly rules?: readonly ReadableRule[];
  /**
   * What a FilterPolicy, a RateLimit or a BackendTLSPolicy is for. Absent when it has no list of
   * targets.
   */
  readonly targets?: readonly PolicyTarget[];
  /** The name of a Gateway's class. Absent when that could not be read. */
  readonly gatewayClass?: string;
  /** The hosts of listeners of a Gateway or ListenerSet, and the Gateway that the latter names. */
  readonly listeners?: readonly { readonly port: number; readonly hostname: string }[];
  readonly parent?: { readonly namespace?: string; readonly name: string };
  /** A route of Gateway API. Absent when too little of it could be read. */
  readonly route?: ClosedRoute;
  /** When the route was created, which decides among equal matches. Absent in folders. */
  readonly created?: string;
  /** The hostname of a Host, or the Hosts of a TLSContext. Absent when that could not be read. */
  readonly hosts?: readonly string[];
  /** By what a Host chooses Mappings. One that cannot be read chooses all. Absent: it does not. */
  readonly mappingSelector?: LabelSelector;
  /** The request headers that a Filter would inject, as far as they could be read. */
  readonly injects?: readonly string[];
  /** The Filter that an OAuth2 Filter passes access tokens to. Absent when there is none. */
  readonly delegate?: FilterName;
  /** Restrictions that it asks for and that are not served. Absent when there are none. */
  readonly unserved?: readonly Unserved[];
  /** Why it is closed, for people, where that is no error of its own. */
  readonly reason?: string;
};

/** Resources by their ids. */
export type ResourcesById = ReadonlyMap<string, Resource>;

export function resourceId(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}
