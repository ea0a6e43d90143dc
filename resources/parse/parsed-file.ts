import type { Problem } from '#resources/problem.ts';
import type { Rejected, Resource, Source } from '#resources/resource.ts';

/** The result of one file. */
export type ParsedFile = {
  /** Its path, as Problems and sources name it. */
  readonly file: string;
  readonly resources: readonly Resource[];
  readonly rejected: readonly Rejected[];
  readonly problems: readonly Problem[];
  /** False when it could not be parsed far enough to identify its resources. */
  readonly readable: boolean;
  /**
   * Whether a document of it has an error and does not say, or not for sure, which resource it is.
   */
  readonly anonymous: boolean;
  /** Whether it has no byte, as a save on a full disk leaves it. So it may have had resources. */
  readonly emptied?: boolean;
};

export const EMPTY_FILE: ParsedFile = {
  file: '',
  resources: [],
  rejected: [],
  problems: [],
  readable: true,
  anonymous: false,
};

/** Merges the results of several parts of a file. */
export function mergeParsed(file: string, parts: readonly ParsedFile[]): ParsedFile {
  const resources: Resource[] = [];
  const rejected: Rejected[] = [];
  const problems: Problem[] = [];
  // Mostly one resource each, of perhaps 100,000.
  for (const part of parts) {
    for (const each of part.resources) resources.push(each);
    for (const each of part.rejected) rejected.push(each);
    for (const each of part.problems) problems.push(each);
  }
  return {
    file,
    resources,
    rejected,
    problems,
    readable: parts.every(part => part.readable),
    anonymous: parts.some(part => part.anonymous),
  };
}

/** Moves the result of a part, whose lines count from 1, to its place in the file. */
export function placeParsed(part: ParsedFile, file: string, linesBefore: number): ParsedFile {
  const place = <T extends { readonly source: Source }>(item: T): T => ({
    ...item,
    source: { file, line: item.source.line + linesBefore },
  });
  return {
    file,
    resources: part.resources.map(place),
    rejected: part.rejected.map(place),
    problems: part.problems.map(problem => ({
      ...problem,
      file,
      line: problem.line + linesBefore,
    })),
    readable: part.readable,
    anonymous: part.anonymous,
  };
}

/** Returns the result for a document of which only the reason for its failure is known. */
export function unreadableDocument(reason: string): ParsedFile {
  return {
    ...EMPTY_FILE,
    problems: [problemAt(1, `Cannot read this YAML: ${reason}`)],
    readable: false,
  };
}

/** Returns an error of a document whose resource is not known. */
export function problemAt(line: number, message: string): Problem {
  return { severity: 'error', kind: '', namespace: '', name: '', file: '', line, message };
}
