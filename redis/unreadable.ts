/**
 * The environment describes Redis in a way that cannot be used. The message names the variable, and
 * never a secret.
 */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}
