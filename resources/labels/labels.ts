import * as z from 'zod';
import { type LabelSpecifier, labelSpecifier } from './label-specifier.ts';

/** An ordered group of labels. The name is for people. */
export type LabelGroup = { readonly name: string; readonly specifiers: readonly LabelSpecifier[] };

const labelGroup = z
  .record(z.string(), z.array(labelSpecifier).min(1).meta({ form: 'a list of label specifiers' }))
  .meta({ form: 'one group name with its list of label specifiers' })
  .transform((group, context): LabelGroup => {
    const entries = Object.entries(group);
    const [entry] = entries;
    if (entry !== undefined && entries.length === 1)
      return { name: entry[0], specifiers: entry[1] };
    context.addIssue({
      code: 'custom',
      message: `a label group is a map with one key, its name, not ${entries.length}. Begin each group with its own "-"`,
    });
    return z.NEVER;
  });

/**
 * Label domain → label groups (docs/reference/kinds/rate-limit.md). A bad specifier drops its
 * group, and the others stay. A domain without groups counts as not mentioned.
 */
export const labels = z
  .record(
    z.string(),
    z.array(labelGroup).meta({ lenient: true, form: 'a list of label groups' }).nullable(),
  )
  .meta({ form: 'a map from label domain to its list of label groups' })
  .transform(domains => {
    const mentioned = Object.entries(domains).flatMap(([name, groups]) =>
      groups === null || groups.length === 0 ? [] : [[name, groups] as const],
    );
    return Object.fromEntries<readonly LabelGroup[]>(mentioned);
  });

/** Label domain → the labels of every request (docs/reference/kinds/rate-limit.md). */
export const defaultLabels = z
  .record(
    z.string(),
    z
      .object({
        defaults: z
          .array(labelSpecifier)
          .meta({ form: 'a list of label specifiers' })
          .default([])
          .describe('Prepended to each label group of the domain'),
      })
      .nullable()
      .transform(domain => domain ?? { defaults: [] }),
  )
  .meta({ lenient: true });
