import * as z from 'zod';
import { gatewayId } from './gateway-id.ts';
import type { KindDefinition } from './kind.ts';
import type { LabelPattern } from './label-pattern.ts';
import { checkWith, type Parsed } from './parsed-string.ts';
import { parseTemplate, type TemplateUse } from './template/template.ts';

const headerTemplate = z.object({
  name: z.string().describe('Name of the header'),
  value: z
    .string()
    .check(checkWith(checkTemplate('header')))
    .describe('Go text/template of its value'),
});

const headerTemplates = z.array(headerTemplate).default([]);

const limit = z.object({
  name: z
    .string()
    .min(1)
    .exactOptional()
    .describe('Name in logs and metrics; default: `<resource name>.<namespace>-<index in limits>`'),
  action: z.enum(['Enforce', 'LogOnly']).default('Enforce'),
  pattern: z.array(z.unknown()).transform((): LabelPattern => []),
  rate: z.int().min(0).max(4_294_967_295),
  unit: z.enum(['second', 'minute', 'hour', 'day']),
  injectRequestHeaders: headerTemplates,
  injectResponseHeaders: headerTemplates,
  errorResponse: z
    .object({
      headers: headerTemplates,
      bodyTemplate: z
        .string()
        .check(checkWith(checkTemplate('body')))
        .default(''),
    })
    .exactOptional(),
});

function checkTemplate(use: TemplateUse): (text: string) => Parsed<string> {
  return text => {
    const parsed = parseTemplate(text, use);
    return 'error' in parsed ? parsed : { value: text };
  };
}

const schema = z.object({
  domain: z.string().min(1).describe('Label domain that the limits apply to'),
  limits: z.array(limit).describe('The limits'),
  gateway_id: gatewayId,
});

/** Limits by label (document 2, "RateLimit resource"). */
export const rateLimit: KindDefinition<typeof schema> = {
  summary: 'How many requests with certain labels may pass in a unit of time.',
  schema,
  fieldsAt: 'spec',
  unknownField: 'warning',
};

export type RateLimitSpec = z.output<typeof schema>;
export type Limit = RateLimitSpec['limits'][number];
