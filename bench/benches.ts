/** A benchmark of this folder that writes a page of results of the same name. */
export type Bench = {
  readonly name: string;
  /** Arguments with which it measures everything and writes its page. */
  readonly args: readonly string[];
};

const WRITE = ['--write'];

/** In the order of the page of all. */
export const BENCHES: readonly Bench[] = [
  { name: 'ratelimit', args: [] },
  { name: 'ghz', args: [] },
  { name: 'rate-limit-decision', args: WRITE },
  { name: 'oauth2', args: [] },
  { name: 'decision-cache', args: [] },
  { name: 'bearer', args: [] },
  { name: 'token-check', args: WRITE },
  { name: 'sent-headers', args: [] },
  { name: 'public-path', args: WRITE },
  { name: 'minimum', args: WRITE },
  { name: 'routes', args: WRITE },
  { name: 'edit-to-effect', args: [] },
  { name: 'scale', args: WRITE },
  { name: 'fleet', args: WRITE },
  { name: 'gateway-api-scale', args: WRITE },
  { name: 'instances', args: [] },
  { name: 'figures', args: WRITE },
  { name: 'traces', args: WRITE },
  { name: 'questions', args: WRITE },
  { name: 'decision-tail', args: [] },
  { name: 'h2-decision', args: [] },
  { name: 'decision-memory', args: [] },
];
