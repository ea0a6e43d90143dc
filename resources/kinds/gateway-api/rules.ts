import type * as z from 'zod';

/** A broken rule between fields. `path` leads from the value that was checked. */
export type Breach = {
  readonly path: readonly (string | number)[];
  readonly message: string;
};

/** Returns a check of a schema. Each breach that `find` returns is one issue. */
export function checkRules<T>(find: (value: T) => readonly Breach[]): z.core.CheckFn<T> {
  return context => {
    for (const { path, message } of find(context.value))
      context.issues.push({ code: 'custom', path: [...path], message, input: context.value });
  };
}

/** Returns a check that no two items of a list have the same key. Items may be without one. */
export function checkUnique<T>(
  keyOf: (item: T) => string | undefined,
  what: string,
): z.core.CheckFn<T[]> {
  return checkRules(items => repeatsOf(items.map(keyOf)).map(index => breach(index, what)));
}

function breach(index: number, what: string): Breach {
  return { path: [index], message: `${what} is already in the list` };
}

function repeatsOf(keys: readonly (string | undefined)[]): readonly number[] {
  const seen = new Set<string>();
  return keys.flatMap((key, index) => {
    if (key === undefined) return [];
    const repeated = seen.has(key);
    seen.add(key);
    return repeated ? [index] : [];
  });
}

/**
 * Returns the breaches of an object in which `type` says which one of the fields is there.
 * `fields` has the field of each type that has one, and `choice` is how the operator writes `type`.
 */
export function choiceBreaches(
  value: { readonly type: string },
  fields: Readonly<Record<string, string>>,
  choice = 'type',
): readonly Breach[] {
  return Object.entries(fields).flatMap(([type, field]) => {
    const isThere = (value as Readonly<Record<string, unknown>>)[field] !== undefined;
    if (isThere === (value.type === type)) return [];
    const message = isThere
      ? `\`${field}\` is only for \`${choice}: ${type}\``
      : `\`${field}\` is required for \`${choice}: ${type}\``;
    return [{ path: [field], message }];
  });
}
