import type { CompileOptions } from '#controlplane/compile/options.ts';
import type { Problem } from '#resources/problem.ts';
import type { InForce } from './with-documents.ts';

/** A question to `/diff`. */
export type DiffQuestion = {
  /** Documents. Their names stand in the answer. */
  readonly files: readonly { readonly name: string; readonly text: string }[];
  /**
   * Whether the files stand for all that the control plane reads from folders, so that what they
   * lack is removed. Objects of Kubernetes stay. Default: false.
   */
  readonly whole?: boolean;
  /** Ids of resources that are removed, such as `Mapping/default/user`. Default: none. */
  readonly remove?: readonly string[];
  /** Whether Envoy's configuration is compared, too. Default: false. */
  readonly envoy?: boolean;
};

export type DiffBasis = {
  readonly inForce: InForce;
  readonly known: readonly Problem[];
  readonly options: CompileOptions;
  readonly now: number;
};

const MOST_FILES = 10_000;
const LONGEST_NAME = 1_000;

/**
 * Parses the body of a question.
 * @returns undefined when it is not a question
 */
export function parseDiffQuestion(body: unknown): DiffQuestion | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { files, whole = false, remove = [], envoy = false } = body as Record<string, unknown>;
  if (!Array.isArray(files) || files.length > MOST_FILES || !files.every(isFile)) return undefined;
  if (new Set(files.map(({ name }) => name)).size < files.length) return undefined;
  if (typeof whole !== 'boolean' || typeof envoy !== 'boolean') return undefined;
  if (!Array.isArray(remove) || remove.length > MOST_FILES) return undefined;
  return remove.every(isName) ? { files, whole, remove, envoy } : undefined;
}

function isFile(file: unknown): file is { readonly name: string; readonly text: string } {
  if (typeof file !== 'object' || file === null) return false;
  const { name, text } = file as Record<string, unknown>;
  return isName(name) && typeof text === 'string';
}

function isName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= LONGEST_NAME;
}
