import * as z from 'zod';
import { most } from '../gateway-api/names.ts';
import { localRef } from '../gateway-api/object-ref.ts';
import { checkRules } from '../gateway-api/rules.ts';

const KEY =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$/;

const checkKeys = checkRules<Record<string, string>>(map =>
  Object.keys(map)
    .filter(key => !KEY.test(key) || (key.split('/')[0] ?? '').length >= 253)
    .map(key => ({ path: [key], message: 'it is no name of a label or an annotation' })),
);

const labelValue = z
  .string()
  .max(63)
  .regex(/^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/)
  .meta({ form: 'the value of a label' });

/** What the objects that are made for a Gateway get. */
export const infrastructure = z.object({
  labels: z
    .record(z.string(), labelValue)
    .check(most(8, 'labels'), checkKeys)
    .default({})
    .meta({ form: 'a map from label to value' })
    .describe('Labels of the objects made for it'),
  annotations: z
    .record(z.string(), z.string().max(4096))
    .check(most(16, 'annotations'), checkKeys)
    .default({})
    .meta({ form: 'a map from annotation to text' })
    .describe('Annotations of the objects made for it'),
  parametersRef: localRef.exactOptional().describe('A ProxyConfig, of which `deployment` is read'),
});
