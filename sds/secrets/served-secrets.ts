import type { XdsResource } from '#xds/snapshot.ts';
import { SecretSlot, type SlotOptions } from './secret-slot.ts';
import { parseServedSecret, type ServedSecret } from './served-secret.ts';

export type ServedSecretsOptions = Omit<SlotOptions, 'onChange'> & {
  /** What these groups may have has changed. */
  onChange(groups: readonly string[]): void;
};

/**
 * Holds all secrets that the control plane wants served, by name. What it last said stays in force
 * while it is away.
 */
export class ServedSecrets {
  readonly #options: ServedSecretsOptions;
  readonly #slots = new Map<string, SecretSlot>();

  constructor(options: ServedSecretsOptions) {
    this.#options = options;
  }

  /**
   * Applies a change.
   * @returns why it is rejected as a whole, or undefined when it is in force
   */
  update(changed: readonly XdsResource[], removed: readonly string[]): string | undefined {
    const parsed = changed.map(parseServedSecret);
    const errors = parsed.flatMap(each => ('error' in each ? [each.error] : []));
    if (errors.length > 0) return errors.join(', and ');
    for (const served of parsed) if (!('error' in served)) this.#put(served);
    for (const name of removed) this.#remove(name);
    return undefined;
  }

  slots(): Iterable<SecretSlot> {
    return this.#slots.values();
  }

  /** Returns those that may be sent to the group. */
  resourcesOf(group: string): readonly XdsResource[] {
    return [...this.#slots.values()].flatMap(({ served, resources }) =>
      served.groups.includes(group) ? resources : [],
    );
  }

  close(): void {
    for (const slot of this.#slots.values()) slot.close();
    this.#slots.clear();
  }

  #put(served: ServedSecret): void {
    const slot = this.#slots.get(served.name);
    this.#options.onFindings();
    if (slot === undefined) this.#add(served);
    else {
      const before = slot.served.groups;
      slot.replace(served);
      // Also tells groups that may have it only from now on. When the new content is rejected, they
      // get what was sent before.
      this.#options.onChange([...before, ...served.groups]);
    }
  }

  #add(served: ServedSecret): void {
    const onChange = () =>
      this.#options.onChange(this.#slots.get(served.name)?.served.groups ?? []);
    const slot = new SecretSlot(served, { ...this.#options, onChange });
    this.#slots.set(served.name, slot);
    onChange();
  }

  #remove(name: string): void {
    const slot = this.#slots.get(name);
    if (slot === undefined) return;
    slot.close();
    this.#slots.delete(name);
    this.#options.onFindings();
    this.#options.onChange(slot.served.groups);
  }
}
