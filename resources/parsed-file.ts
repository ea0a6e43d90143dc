import type { Problem } from './problem.ts';
import type { Refused, Resource } from './resource.ts';

/** What one file gives. */
export type ParsedFile = {
  readonly resources: readonly Resource[];
  readonly refused: readonly Refused[];
  readonly problems: readonly Problem[];
  /** False: a part of it is so broken that nobody knows which resources it was about. */
  readonly readable: boolean;
};
