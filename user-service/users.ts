/**
 * One row of the table of users. `passwordHash` is a PHC string and leaves the service in no answer
 * and no log.
 */
export type User = {
  readonly username: string;
  readonly fullname: string;
  /** 32 uppercase hexadecimal characters, without separators. */
  readonly uuid: string;
  readonly passwordHash: string;
};

/**
 * The table of users, shared by all instances. Every function rejects with StoreUnavailable, in
 * bounded time, when the store does not do its part.
 */
export type UserStore = {
  /** Creates the table unless it exists; safe when several instances do so at once. */
  readonly createTable: () => Promise<void>;
  /** The user of exactly that name (letter case counts), or undefined. */
  readonly find: (username: string) => Promise<User | undefined>;
  /** Adds the user: true. Changes nothing when the name is taken, by whichever instance: false. */
  readonly insert: (user: User) => Promise<boolean>;
  readonly close: () => Promise<void>;
};
