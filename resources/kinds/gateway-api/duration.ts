import * as z from 'zod';

const DURATION = /^([0-9]{1,5}(h|m|s|ms)){1,4}$/;
const MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Duration as GEP-2257 of Gateway API spells it, such as `1h30m`. It becomes milliseconds. */
export const gatewayDuration = z
  .string()
  .regex(DURATION)
  .meta({ form: 'a duration such as `1h30m`, `10s` or `300ms`' })
  .transform(text =>
    [...text.matchAll(/(\d+)(ms|h|m|s)/g)].reduce(
      (sum, [, count, unit = 'ms']) => sum + Number(count) * (MS[unit] ?? 0),
      0,
    ),
  );
