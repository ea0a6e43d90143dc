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
  /** Different values. One counts when it alone names a session. */
  readonly several: boolean;
  /** The keys of the sessions that they name, of which none counts beside another. */
  readonly rivals: readonly string[];
  /** A cookie names no session. */
  readonly dead: boolean;
};
