import { isDeepStrictEqual } from 'node:util';
import { PersistentMap } from '#xds/persistent-map.ts';
import type { Instance, Instances } from '../instance.ts';
import type { Slice } from './endpoint-slice.ts';
import { serviceInstances } from './service-instances.ts';
import type { ServicePort } from './service-ports.ts';

/**
 * Indexes the slices of all namespaces by service. So the cost of a change of one slice follows the
 * size of its service.
 */
export class SliceIndex {
  readonly #ownNamespace: string;
  readonly #slices = new Map<string, Slice>();
  /** Keys of slices by `service.namespace`. */
  readonly #services = new Map<string, Set<string>>();
  /** By `service.namespace`. */
  readonly #ports = new Map<string, readonly ServicePort[]>();
  /** The names under which each service's instances were published. */
  readonly #names = new Map<string, readonly string[]>();
  #instances = new PersistentMap<readonly Instance[]>();

  /** Services of `ownNamespace` have a short name too. */
  constructor(ownNamespace: string) {
    this.#ownNamespace = ownNamespace;
  }

  /**
   * The instances by name. A service that has not changed has the same array as before. The result
   * is a value, and later changes make another one.
   */
  get instances(): Instances {
    return this.#instances;
  }

  /** Takes what the slices with these keys say now. Undefined removes a slice. */
  update(slices: Iterable<readonly [key: string, slice: Slice | undefined]>): void {
    const touched = new Set<string>();
    for (const [key, slice] of slices) {
      for (const each of [this.#slices.get(key), slice])
        if (each !== undefined) touched.add(serviceOf(each));
      this.#place(key, slice);
    }
    this.#publishAll(touched);
  }

  /**
   * Takes the ports of the Services with these keys (`namespace/service`). Undefined means that the
   * Service is unknown.
   */
  updatePorts(
    services: Iterable<readonly [key: string, ports: readonly ServicePort[] | undefined]>,
  ): void {
    const touched = new Set<string>();
    for (const [key, ports] of services) {
      const service = key.split('/').reverse().join('.');
      if (isDeepStrictEqual(this.#ports.get(service), ports)) continue;
      if (ports === undefined) this.#ports.delete(service);
      else this.#ports.set(service, ports);
      if (this.#services.has(service)) touched.add(service);
    }
    this.#publishAll(touched);
  }

  #publishAll(services: ReadonlySet<string>): void {
    this.#instances = this.#instances.with(
      [...services].flatMap(service => this.#publish(service)),
    );
  }

  #place(key: string, slice: Slice | undefined): void {
    const before = this.#slices.get(key);
    if (before !== undefined) this.#services.get(serviceOf(before))?.delete(key);
    if (slice === undefined) {
      this.#slices.delete(key);
      return;
    }
    this.#slices.set(key, slice);
    const keys = this.#services.get(serviceOf(slice)) ?? new Set();
    this.#services.set(serviceOf(slice), keys.add(key));
  }

  /** Replaces what was published of a service under its old names. */
  #publish(
    service: string,
  ): readonly (readonly [name: string, instances: readonly Instance[] | undefined])[] {
    const gone = (this.#names.get(service) ?? []).map(name => [name, undefined] as const);
    const named = this.#namedInstances(service);
    const names = named.map(([name]) => name);
    if (names.length === 0) this.#names.delete(service);
    else this.#names.set(service, names);
    return [...gone, ...named];
  }

  #namedInstances(
    service: string,
  ): readonly (readonly [name: string, instances: readonly Instance[]])[] {
    const keys = [...(this.#services.get(service) ?? [])].sort();
    const slices = keys.flatMap(key => this.#slices.get(key) ?? []);
    const [first] = slices;
    if (first === undefined) {
      this.#services.delete(service);
      return [];
    }
    const hosts = first.namespace === this.#ownNamespace ? [service, first.service] : [service];
    return [...serviceInstances(slices, this.#ports.get(service))].flatMap(([port, instances]) =>
      hosts.map(host => [`${host}${port}`, instances] as const),
    );
  }
}

function serviceOf({ service, namespace }: Slice): string {
  return `${service}.${namespace}`;
}
