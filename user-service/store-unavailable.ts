/**
 * The store of users did not do what it was asked; `cause` is what its driver said. Clients get a
 * 503.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}
