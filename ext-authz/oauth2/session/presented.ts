import type { LoadedSession } from './session-records.ts';

/** What the cookies of a request say of a session. */
export type Presented = {
  readonly loaded: LoadedSession | undefined;
  /**
   * The different values that an application may read as the xsrf cookie, and whether there is the
   * session's alone.
   */
  readonly xsrf: readonly string[];
  readonly hasXsrf: boolean;
  /** Different values, of which none counts. */
  readonly several: boolean;
  /** A cookie names no session. */
  readonly dead: boolean;
};
