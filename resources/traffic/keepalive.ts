import * as z from 'zod';
import { integer } from '#resources/words/number-types.ts';

/** The largest value of Linux (tcp(7)). More would make each connection fail. */
const MOST_SECONDS = 32_767;
const MOST_PROBES = 127;

function upTo(most: number) {
  return integer(1, most).exactOptional();
}

/** TCP probes on idle connections to a service, which detect that it is gone. */
export const keepalive = z.object({
  time: upTo(MOST_SECONDS)
    .meta({ aliases: ['idle_time'] })
    .describe(
      'Seconds without traffic before the first probe. Default: 10. Also spelt `idle_time`',
    ),
  interval: upTo(MOST_SECONDS).describe('Seconds between probes. Default: 5'),
  probes: upTo(MOST_PROBES).describe(
    'Probes without answer after which the connection ends. Default: 2',
  ),
});
