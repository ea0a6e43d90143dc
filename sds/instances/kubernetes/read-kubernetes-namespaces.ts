import { parseList } from '#process/environment.ts';

const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Namespaces of a cluster that are followed. Undefined means all. */
export type FollowedNamespaces = { readonly namespaces: readonly string[] | undefined };

/**
 * Reads a variable with names of namespaces.
 * @returns undefined when the variable is not set
 * @throws an Error that names the variable
 */
export function readKubernetesNamespaces(
  variable: string,
  text: string,
): FollowedNamespaces | undefined {
  const names = parseList(variable, text, ',');
  if (names.length === 0) return undefined;
  const wrong = names.find(name => name !== '*' && !NAMESPACE.test(name));
  if (wrong !== undefined)
    throw new Error(
      `${variable} has "${wrong}": want names of namespaces with commas between, or * for all`,
    );
  return { namespaces: names.includes('*') ? undefined : [...new Set(names)] };
}
