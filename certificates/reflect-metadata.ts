/**
 * Adds the functions of `Reflect` that parts of @peculiar/x509 look for at their start. They are
 * the metadata API, a proposal that Node does not have. Import this file for its effect, before
 * that package. Functions that exist already are kept. An older release of that package, which
 * acme-client brings, takes the last three when it finds the first three.
 */
type Metadata = {
  getMetadata?(key: unknown, target: object): unknown;
  getOwnMetadata?(key: unknown, target: object): unknown;
  defineMetadata?(key: unknown, value: unknown, target: object): void;
  hasOwnMetadata?(key: unknown, target: object): boolean;
  getOwnMetadataKeys?(target: object): unknown[];
  deleteMetadata?(key: unknown, target: object): boolean;
};

const known = new WeakMap<object, Map<unknown, unknown>>();

const reflect: Metadata = Reflect as Metadata;
reflect.getOwnMetadata ??= (key, target) => known.get(target)?.get(key);
reflect.getMetadata ??= (key, target) => known.get(target)?.get(key);
reflect.defineMetadata ??= (key, value, target) => {
  known.set(target, (known.get(target) ?? new Map()).set(key, value));
};
reflect.hasOwnMetadata ??= (key, target) => known.get(target)?.has(key) ?? false;
reflect.getOwnMetadataKeys ??= target => [...(known.get(target)?.keys() ?? [])];
reflect.deleteMetadata ??= (key, target) => known.get(target)?.delete(key) ?? false;
