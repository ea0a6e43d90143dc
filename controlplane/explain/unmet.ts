/** A condition of a route that a request does not meet, in words. */
export type Unmet = {
  readonly of: 'host' | 'path' | 'method' | 'header' | 'query';
  readonly reason: string;
};
