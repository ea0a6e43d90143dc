import { cors } from './cors.ts';
import { retryPolicy } from './retry-policy.ts';

/** The fields of a Mapping that say how its requests and answers are carried. */
export const mappingTrafficShape = {
  cors: cors
    .exactOptional()
    .describe(
      'Pages of other origins that may read the answers. Preflights are answered without Filters and limits; what the service itself says of origins and credentials is taken away',
    ),
  retry_policy: retryPolicy
    .exactOptional()
    .describe(
      'When a request is asked again, of whatever method; besides, and without it once, what no instance has begun to work on. `num_retries: 0`: never',
    ),
};
