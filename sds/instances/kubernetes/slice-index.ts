import { isDeepStrictEqual } from 'node:util';
import type { Instance, Instances } from '../instance.ts';
import type { Slice } from './endpoint-slice.ts';
import { serviceInstances } from './service-instances.ts';
import type { ServicePort } from './service-ports.ts';

/** The slices of all namespaces by service, so that a change of one slice costs as much as its service is large. */
export class SliceIndex {
  readonly #ownNamespace: string;
  readonly #slices = new Map<string, Slice>();
  /** Keys of slices by `service.namespace`. */
  readonly #services = new Map<string, Set<string>>();
  /** By `service.namespace`. */
  readonly #ports = new Map<string, readonly ServicePort[]>();
  /** The names under which each service's instances were published. */
  readonly #names = new Map<string, readonly string[]>();
  #instances = new Map<string, readonly Instance[]>();

  /** Services of `ownNamespace` have a short name too. */
  constructor(ownNamespace: string) {
    this.#ownNamespace = ownNamespace;
  }

  /** The instances by name: a service that has not changed has the same array as before. A value: later changes make another one. */
  get instances(): Instances {
    return this.#instances;
  }

  /** Takes what the slices with these keys say now; undefined: nothing any more. */
  update(slices: Iterable<readonly [key: string, slice: Slice | undefined]>): void {
    const touched = new Set<string>();
    for (const [key, slice] of slices) {
      for (const each of [this.#slices.get(key), slice]) if (each !== undefined) touched.add(serviceOf(each));
      this.#place(key, slice);
    }
    this.#publishAll(touched);
  }

  /** Takes the ports of the Services with these keys (`namespace/service`); undefined: the Service is not known. */
  updatePorts(services: Iterable<readonly [key: string, ports: readonly ServicePort[] | undefined]>): void {
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
    if (services.size === 0) return;
    this.#instances = new Map(this.#instances);
    for (const service of services) this.#publish(service);
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

  #publish(service: string): void {
    const keys = [...(this.#services.get(service) ?? [])].sort();
    const slices = keys.flatMap(key => this.#slices.get(key) ?? []);
    for (const name of this.#names.get(service) ?? []) this.#instances.delete(name);
    this.#names.delete(service);
    const [first] = slices;
    if (first === undefined) {
      this.#services.delete(service);
      return;
    }
    const hosts = first.namespace === this.#ownNamespace ? [service, first.service] : [service];
    const named = [...serviceInstances(slices, this.#ports.get(service))].flatMap(([port, instances]) =>
      hosts.map(host => [`${host}${port}`, instances] as const),
    );
    for (const [name, instances] of named) this.#instances.set(name, instances);
    this.#names.set(
      service,
      named.map(([name]) => name),
    );
  }
}

function serviceOf({ service, namespace }: Slice): string {
  return `${service}.${namespace}`;
}
