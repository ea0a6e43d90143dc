import { checkedString } from '#resources/words/parsed-string.ts';
import { parseHostGlob, parsePathGlob } from './filter-policy-match.ts';

/** The fields of a FilterPolicy's rule that select its requests. */
export const ruleMatchShape = {
  host: checkedString('a host, in which `*` is any run of characters', parseHostGlob)
    .default('*')
    .describe('Host of the request, without port. `*` is any run of characters'),
  path: checkedString('a path, in which `*` is any run of characters', parsePathGlob)
    .default('*')
    .describe(
      'Path of the request, without query. `*` and `**` are any run of characters, `/` too',
    ),
};
