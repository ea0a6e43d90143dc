/** The store of users failed. `cause` is what its driver said. Clients get a 503. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}
