import type { Passwords } from './password.ts';
import type { User, UserStore } from './users.ts';

export type NewUser = {
  readonly username: string;
  readonly fullname: string;
  readonly password: string;
};
export type PutUser =
  | { readonly outcome: 'created' | 'same'; readonly user: User }
  | { readonly outcome: 'conflict' };

type Ports = {
  readonly users: UserStore;
  readonly passwords: Passwords;
  readonly newUuid: () => string;
};

/**
 * Creates the user, or finds that it exists with this full name and password ("same") or with
 * others ("conflict"). Of any number of equal calls at the same time, on whichever instances,
 * exactly one creates.
 */
export async function putUser(ports: Ports, wanted: NewUser): Promise<PutUser> {
  const existing = await ports.users.find(wanted.username);
  if (existing !== undefined) return compare(ports.passwords, wanted, existing);

  const { username, fullname, password } = wanted;
  const user = {
    username,
    fullname,
    uuid: ports.newUuid(),
    passwordHash: await ports.passwords.hash(password),
  };
  if (await ports.users.insert(user)) return { outcome: 'created', user };
  // another call was faster, and users are never deleted, so this finds one
  return putUser(ports, wanted);
}

async function compare(passwords: Passwords, wanted: NewUser, user: User): Promise<PutUser> {
  const same =
    user.fullname === wanted.fullname &&
    (await passwords.verify(wanted.password, user.passwordHash));
  return same ? { outcome: 'same', user } : { outcome: 'conflict' };
}
