import { readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { reasonOf } from '#resources/folder/folder-listing.ts';
import type { SecretPlace } from '#resources/words/secret-value.ts';

/** Which values the Secrets in folders may take from elsewhere. */
export type SecretPlacesOptions = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names of variables, in which `*` stands for any characters. */
  readonly variables: readonly string[];
  /** Folders whose files may be read, beside the folder of resources that names the file. */
  readonly folders: readonly string[];
};

/** A value, or why there is none. The reason holds nothing of it. */
export type FoundValue = { readonly bytes: Uint8Array } | { readonly error: string };

/** As of a Secret of Kubernetes, which holds 1 MiB. */
const LONGEST_BYTES = 1024 * 1024;

/**
 * Looks up the values of Secrets in variables and files. People who write resources may not be the
 * ones who run the gateway. So only what the options allow is read.
 */
export class SecretPlaces {
  readonly #options: SecretPlacesOptions;
  #files = new Map<string, string>();

  constructor(options: SecretPlacesOptions) {
    this.#options = options;
  }

  /** Forgets which files were read. */
  begin(): void {
    this.#files = new Map();
  }

  /** `file` is where the Secret stands, and `folder` the folder of resources around it. */
  find(place: SecretPlace, file: string, folder: string): FoundValue {
    return 'env' in place ? this.#variable(place.env) : this.#file(place.file, file, folder);
  }

  /** Returns whether files were read since `begin`. */
  hasFiles(): boolean {
    return this.#files.size > 0;
  }

  /** Returns whether a file that was read since `begin` is another now. */
  haveChanged(): boolean {
    return [...this.#files].some(([path, signature]) => signatureOf(path) !== signature);
  }

  #variable(name: string): FoundValue {
    const { environment, variables } = this.#options;
    if (!variables.some(pattern => matches(name, pattern)))
      return {
        error: `the variable ${name} may not be read: SECRET_VARIABLES of the control plane allows ${variables.join(', ') || 'none'}`,
      };
    // Every object has members such as `constructor`, which are no secrets.
    const text = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (text !== undefined && text !== '') return { bytes: new TextEncoder().encode(text) };
    return {
      error: `the variable ${name} is ${text === undefined ? 'not set' : 'empty'} in the environment of the control plane`,
    };
  }

  #file(written: string, file: string, folder: string): FoundValue {
    const path = resolve(dirname(file), written);
    const allowed = [folder, ...this.#options.folders];
    const outside = `the file ${written} may not be read: it is outside of the folder of resources and of SECRET_FILES of the control plane`;
    // The answer must not tell which files there are elsewhere.
    if (!allowed.some(each => isBelow(path, each))) return { error: outside };
    this.#files.set(path, signatureOf(path));
    try {
      const target = realpathSync(path);
      if (!allowed.some(each => isBelow(target, realFolder(each)))) return { error: outside };
      return readWhole(target, written);
    } catch (error) {
      const end = endOf(path);
      if (!allowed.some(each => isBelow(end, realFolder(each)))) return { error: outside };
      return { error: `the file ${written} cannot be read: ${reasonOf(error)}` };
    }
  }
}

/** As many as Linux follows (path_resolution(7)). */
const MOST_LINKS = 40;

/** Returns the path of what is not there, where links that lead to it end. */
function endOf(path: string, links = 0): string {
  try {
    return realpathSync(path);
  } catch {}
  const parent = dirname(path);
  const at = join(parent === path ? parent : endOf(parent, links), basename(path));
  try {
    const target = resolve(dirname(at), readlinkSync(at));
    return links === MOST_LINKS ? at : endOf(target, links + 1);
  } catch {
    return at;
  }
}

function readWhole(path: string, written: string): FoundValue {
  const stats = statSync(path);
  if (!stats.isFile()) return { error: `the file ${written} is not a regular file` };
  if (stats.size > LONGEST_BYTES)
    return { error: `the file ${written} has more than ${LONGEST_BYTES} bytes` };
  const bytes = readFileSync(path);
  return bytes.length === 0 ? { error: `the file ${written} is empty` } : { bytes };
}

function matches(name: string, pattern: string): boolean {
  return new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name);
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** A folder of `SECRET_FILES` may be missing, as a mount that comes later. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/** Changes when the content of the file may have changed, or another file has taken its place. */
function signatureOf(path: string): string {
  try {
    const { ctimeNs, dev, ino, mtimeNs, size } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    return reasonOf(error);
  }
}
