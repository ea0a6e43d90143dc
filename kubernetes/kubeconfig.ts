import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';

/** Fields of a kubeconfig, by the names that they have in the file. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * What the current context of a kubeconfig selects. Fields that are not there are absent. Source:
 * https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
 */
export type Kubeconfig = {
  /** Relative paths in the file start here. */
  readonly folder: string;
  readonly cluster: Fields;
  readonly user: Fields;
  readonly namespace: string | undefined;
};

/** A field of a kubeconfig has a value that it cannot have. The message names the field alone. */
export class KubeconfigError extends Error {}

/**
 * Reads the current context of a kubeconfig.
 * @throws an Error with a `code` when the file cannot be read, or another when it is not YAML
 */
export function readKubeconfig(path: string): Kubeconfig {
  const config = fieldsOf(parse(readFileSync(path, 'utf8')));
  const context = named(config.contexts, config['current-context'], 'context');
  return {
    folder: dirname(resolve(path)),
    cluster: named(config.clusters, context.cluster, 'cluster'),
    user: named(config.users, context.user, 'user'),
    namespace: textOf(context, 'namespace'),
  };
}

/**
 * Returns a text, or undefined when it is empty or absent.
 * @throws KubeconfigError when it is no text
 */
export function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name] ?? '';
  if (typeof value !== 'string') throw new KubeconfigError(`${name} is no text`);
  return value.trim() === '' ? undefined : value;
}

/** @throws KubeconfigError when it is no list of texts */
export function textsOf(fields: Fields, name: string): readonly string[] {
  const value = fields[name] ?? [];
  if (Array.isArray(value) && value.every(each => typeof each === 'string')) return value;
  throw new KubeconfigError(`${name} is no list of texts`);
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function named(list: unknown, name: unknown, field: string): Fields {
  if (typeof name !== 'string' || !Array.isArray(list)) return {};
  return fieldsOf(fieldsOf(list.find(each => fieldsOf(each).name === name))[field]);
}
