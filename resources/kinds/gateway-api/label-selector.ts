import * as z from 'zod';
import { checkRules } from './rules.ts';

const expression = z
  .object({
    key: z.string().describe('Label that it is about'),
    operator: z
      .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
      .describe('How the label is compared'),
    values: z.array(z.string()).default([]).describe('Values for `In` and `NotIn`'),
  })
  .check(
    checkRules(({ operator, values }) => {
      const needsValues = operator === 'In' || operator === 'NotIn';
      if (needsValues === values.length > 0) return [];
      const message = needsValues
        ? `\`values\` must not be empty for ${operator}`
        : `\`values\` must be empty for ${operator}`;
      return [{ path: ['values'], message }];
    }),
  );

/** Kubernetes' own selector (meta/v1 LabelSelector). One without conditions selects all. */
export const labelSelector = z.object({
  matchLabels: z
    .record(z.string(), z.string())
    .default({})
    .meta({ form: 'a map from label to value' })
    .describe('Labels that it must have'),
  matchExpressions: z
    .array(expression)
    .default([])
    .meta({ form: 'a list of conditions' })
    .describe('Conditions that its labels must all meet'),
});

export type LabelSelector = z.output<typeof labelSelector>;
