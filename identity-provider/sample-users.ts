/** A person who may log in. Everybody can read the password: it is in the README. */
export type SampleUser = {
  /** Also the `sub`. */
  readonly username: string;
  readonly password: string;
  readonly name: string;
  readonly email: string;
  /** The values of API_SCOPES that an application may act with for this person. */
  readonly scopes: readonly string[];
};

/** What an access token of ours may allow at the service behind the gateway. */
export const API_SCOPES = ['users:read', 'users:admin'] as const;

/** The two of the demo: one may do everything, the other may not administer. */
const SAMPLE_USERS: readonly SampleUser[] = [
  {
    username: 'ada',
    password: 'difference',
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    scopes: ['users:read', 'users:admin'],
  },
  {
    username: 'grace',
    password: 'nanosecond',
    name: 'Grace Hopper',
    email: 'grace@example.com',
    scopes: ['users:read'],
  },
];

/** The user whom both belong to. */
export function userOf(username: unknown, password: unknown): SampleUser | undefined {
  return SAMPLE_USERS.find(user => user.username === username && user.password === password);
}

export function userNamed(username: string): SampleUser | undefined {
  return SAMPLE_USERS.find(user => user.username === username);
}
