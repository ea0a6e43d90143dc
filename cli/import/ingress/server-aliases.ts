import { listOf } from './annotations.ts';
import type { Ingress } from './ingress.ts';

/** The host of a rule → further names of it. */
export type Aliases = ReadonlyMap<string, readonly string[]>;

/** An expression is no alias here. */
const NAME = /^(?:\*\.)?[a-z0-9.-]+$/;

/**
 * Returns the aliases of each host. In ingress-nginx they are names of the server, so that they
 * have the paths and the restrictions of all Ingresses of the host. The oldest Ingress with some
 * decides. A name with rules of its own is no alias
 * (https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/#server-alias).
 */
export function aliasesOf(ingresses: readonly Ingress[]): Aliases {
  const hosts = new Set(ingresses.flatMap(({ paths }) => paths.map(({ host }) => host)));
  const aliases = new Map<string, readonly string[]>();
  for (const { annotations, paths } of ingresses) {
    const written = listOf(annotations.get('server-alias')).map(alias => alias.toLowerCase());
    const names = written.filter(alias => NAME.test(alias) && !hosts.has(alias));
    if (names.length === 0) continue;
    for (const { host } of paths) if (!aliases.has(host)) aliases.set(host, names);
  }
  return aliases;
}

/** Returns a host and its aliases. */
export function hostsOf(host: string, aliases: Aliases): readonly string[] {
  return [host, ...(aliases.get(host) ?? [])];
}
