/** A person who may log in. The password is public, because it is in the README. */
export type SampleUser = {
  /** Also the `sub`. */
  readonly username: string;
  readonly password: string;
  readonly name: string;
  readonly email: string;
  /** The values of API_SCOPES that an application may act with for this person. */
  readonly scopes: readonly string[];
};

/** What an access token may allow at the service behind the gateway. */
export const API_SCOPES = ['users:read', 'users:admin'] as const;

/** The two users of the demo. One may do everything, the other may not administer. */
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

/** Returns the user to whom both belong. */
export function userOf(username: unknown, password: unknown): SampleUser | undefined {
  return SAMPLE_USERS.find(user => user.username === username && user.password === password);
}

export function userNamed(username: string): SampleUser | undefined {
  return SAMPLE_USERS.find(user => user.username === username);
}
