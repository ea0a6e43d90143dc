/**
 * One row of the table of users. `passwordHash` is a PHC string, and is in no answer and no log.
 */
export type User = {
  readonly username: string;
  readonly fullname: string;
  /** 32 uppercase hexadecimal characters, without separators. */
  readonly uuid: string;
  readonly passwordHash: string;
};

/**
 * The table of users, which all instances share. Every function rejects with StoreUnavailable, in
 * bounded time, when the store fails.
 */
export type UserStore = {
  /** Creates the table unless it exists. Several instances may do so at once. */
  readonly createTable: () => Promise<void>;
  /**
   * Finds the user of exactly that name. Letter case counts.
   * @returns undefined when there is none
   */
  readonly find: (username: string) => Promise<User | undefined>;
  /**
   * Adds the user and returns true.
   * @returns false, without a change, when the name is taken, by whichever instance
   */
  readonly insert: (user: User) => Promise<boolean>;
  readonly close: () => Promise<void>;
};
