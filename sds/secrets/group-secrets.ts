import type { Authority } from '#certificates/authority/authority.ts';
import { keepFresh } from '#certificates/authority/keep-fresh.ts';
import { IDENTITY_SECRET, ROOTS_SECRET } from '#certificates/identity.ts';
import { type Snapshot, snapshotOf, type XdsResource } from '#xds/snapshot.ts';
import type { Clock } from './clock.ts';
import {
  type CertificateFacts,
  factsOf,
  type SecretContent,
  secretResource,
} from './secret-content.ts';

export type GroupSecretsOptions = {
  readonly authority: Authority;
  readonly clock: Clock;
  readonly versionKey: Uint8Array;
  /** Returns the secrets beside the built-in ones that the group may have. */
  servedTo(group: string): readonly XdsResource[];
  /** Receives what the group has now. */
  publish(group: string, secrets: Snapshot): void;
  /** Called when the last proxy of the group is gone. */
  forget(group: string): void;
  onIssued(group: string): void;
  onTrouble(group: string, reason: string): void;
};

type Group = {
  proxies: number;
  readonly since: number;
  identity: { readonly resource: XdsResource; readonly facts: CertificateFacts } | undefined;
  readonly close: () => void;
};

/**
 * Holds the secrets of each node group with a connected proxy. These are its own certificate, the
 * roots, and what is served to it. The certificate is renewed while a proxy is connected.
 */
export class GroupSecrets {
  readonly #options: GroupSecretsOptions;
  readonly #groups = new Map<string, Group>();
  readonly #changed = new Set<string>();
  readonly #endRoots: () => void;
  #roots: XdsResource;

  constructor(options: GroupSecretsOptions) {
    this.#options = options;
    this.#roots = this.#rootsResource();
    this.#endRoots = options.authority.onRoots(() => {
      this.#roots = this.#rootsResource();
      for (const name of this.#groups.keys()) this.changed(name);
    });
  }

  get size(): number {
    return this.#groups.size;
  }

  /** Returns since when a proxy of one of the groups is connected, in ms since the epoch. */
  since(names: readonly string[]): number | undefined {
    const known = names.flatMap(name => this.#groups.get(name)?.since ?? []);
    return known.length === 0 ? undefined : Math.min(...known);
  }

  has(name: string): boolean {
    return this.#groups.has(name);
  }

  /** Returns the certificate of each group that has one. */
  identities(): readonly (readonly [group: string, facts: CertificateFacts])[] {
    return [...this.#groups].flatMap(([name, { identity }]) =>
      identity === undefined ? [] : [[name, identity.facts] as const],
    );
  }

  connected(name: string): void {
    const group = this.#groups.get(name);
    if (group === undefined) this.#open(name);
    else group.proxies += 1;
  }

  disconnected(name: string): void {
    const group = this.#groups.get(name);
    if (group === undefined) return;
    group.proxies -= 1;
    if (group.proxies > 0) return;
    group.close();
    this.#groups.delete(name);
    this.#options.forget(name);
  }

  /**
   * Notes that what the group may have has changed. Many changes of one moment are published once.
   */
  changed(name: string): void {
    if (this.#changed.size === 0) queueMicrotask(() => this.#publish());
    this.#changed.add(name);
  }

  close(): void {
    this.#endRoots();
    for (const group of this.#groups.values()) group.close();
    this.#groups.clear();
  }

  #publish(): void {
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const name of changed) this.#publishGroup(name);
  }

  #publishGroup(name: string): void {
    const identity = this.#groups.get(name)?.identity;
    if (identity === undefined) return;
    const { publish, servedTo } = this.#options;
    publish(name, snapshotOf([...servedTo(name), identity.resource, this.#roots]));
  }

  #open(name: string): void {
    const { authority, clock, versionKey, onIssued, onTrouble } = this.#options;
    const fresh = keepFresh({
      ...clock,
      issue: () => authority.identity(name),
      onIssued: pair => {
        const content: SecretContent = { kind: 'key pair', ...pair };
        group.identity = {
          resource: secretResource(IDENTITY_SECRET, content, versionKey),
          facts: factsOf(content),
        };
        onIssued(name);
        this.changed(name);
      },
      onTrouble: reason => onTrouble(name, reason),
    });
    const group: Group = {
      proxies: 1,
      since: clock.now(),
      identity: undefined,
      close: () => fresh.close(),
    };
    this.#groups.set(name, group);
  }

  #rootsResource(): XdsResource {
    const { authority, versionKey } = this.#options;
    return secretResource(ROOTS_SECRET, { kind: 'trusted ca', ca: authority.roots() }, versionKey);
  }
}
