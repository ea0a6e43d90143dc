import * as z from 'zod';
import { integer } from '#resources/words/number-types.ts';
import { backendObjectRef } from './backend-ref.ts';
import { listOf } from './bounded.ts';
import { checkRules, choiceBreaches } from './rules.ts';

const headerNames = listOf(64, z.string(), 'names').default([]);

/** Asks another service whether a request may pass. */
export const externalAuth = z
  .object({
    protocol: z.enum(['HTTP', 'GRPC']).describe('How it is asked'),
    backendRef: backendObjectRef.describe('Backend that is asked'),
    grpc: z
      .object({ allowedHeaders: headerNames.describe('Headers that it gets') })
      .exactOptional()
      .describe('Settings for `protocol: GRPC`'),
    http: z
      .object({
        path: z
          .string()
          .max(1024)
          .regex(/^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$/)
          .exactOptional()
          .meta({ form: 'a path' })
          .describe('Prefix of the path that is asked'),
        allowedHeaders: headerNames.describe('Headers that it gets, besides the usual ones'),
        allowedResponseHeaders: headerNames.describe('Headers of its answer for the backend'),
      })
      .exactOptional()
      .describe('Settings for `protocol: HTTP`'),
    forwardBody: z
      .object({
        maxSize: integer(0, 2_147_483_647, 'an integer of bytes')
          .default(0)
          .describe('Most bytes of it. 0 sends none'),
      })
      .exactOptional()
      .describe('Whether it gets the body'),
  })
  .check(
    checkRules(({ protocol: type, ...value }) =>
      choiceBreaches({ type, ...value }, { GRPC: 'grpc', HTTP: 'http' }, 'protocol'),
    ),
  );

export type ExternalAuth = z.output<typeof externalAuth>;
