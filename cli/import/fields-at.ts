import { type Fields, isFields } from '#resources/words/fields.ts';

/** Returns the fields below these keys, or none. */
export function fieldsAt(value: unknown, ...keys: readonly string[]): Fields {
  const found = keys.reduce<unknown>((at, key) => (isFields(at) ? at[key] : undefined), value);
  return isFields(found) ? found : {};
}

export function listAt(value: unknown, ...keys: readonly string[]): readonly unknown[] {
  const last = keys.at(-1) ?? '';
  const found = fieldsAt(value, ...keys.slice(0, -1))[last];
  return Array.isArray(found) ? found : [];
}

export function textAt(value: unknown, key: string): string | undefined {
  const found = isFields(value) ? value[key] : undefined;
  return typeof found === 'string' && found !== '' ? found : undefined;
}
