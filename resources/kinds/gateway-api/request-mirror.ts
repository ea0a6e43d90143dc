import * as z from 'zod';
import { integer } from '#resources/words/number-types.ts';
import { backendObjectRef } from './backend-ref.ts';
import { checkRules } from './rules.ts';

const LARGEST = 2_147_483_647;

const fraction = z
  .object({
    numerator: z
      .int()
      .min(0)
      .max(LARGEST)
      .describe('How many of them')
      .meta({ form: 'an integer' }),
    denominator: integer(1, LARGEST, 'an integer above 0')
      .default(100)
      .describe('Of how many requests'),
  })
  .check(
    checkRules(({ numerator, denominator }) =>
      numerator <= denominator
        ? []
        : [{ path: ['numerator'], message: '`numerator` must not be above `denominator`' }],
    ),
  );

/** A copy of requests, whose responses are dropped. */
export const requestMirror = z
  .object({
    backendRef: backendObjectRef.describe('Backend that gets the copies'),
    percent: integer(0, 100).exactOptional().describe('Percentage of requests. Default: 100'),
    fraction: fraction.exactOptional().describe('Fraction of requests, in place of `percent`'),
  })
  .check(
    checkRules(({ percent, fraction }) =>
      percent === undefined || fraction === undefined
        ? []
        : [{ path: ['fraction'], message: '`percent` and `fraction` exclude each other' }],
    ),
  );

export type RequestMirror = z.output<typeof requestMirror>;
