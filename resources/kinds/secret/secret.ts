import * as z from 'zod';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { SecretValue } from '#resources/words/secret-value.ts';
import { parseSecretPlace } from './secret-place.ts';

const KEY = /^[-._a-zA-Z0-9]{1,253}$/;
const key = z.string().regex(KEY, 'letters, digits, "-", "_" and "." only, 253 at most');

const base64 = z
  .string()
  .meta({ form: 'base64', secret: true })
  .transform((text, context): SecretValue => {
    const bytes = decodeBase64(text);
    if (bytes !== undefined) return new SecretValue(bytes);
    context.addIssue({ code: 'custom', message: 'not base64. Plain text belongs in `stringData`' });
    return z.NEVER;
  });

/**
 * Decodes standard base64 with padding (RFC 4648 section 4). Line breaks are allowed, as Kubernetes
 * allows them.
 */
function decodeBase64(text: string): Uint8Array | undefined {
  const compact = text.replace(/[\r\n]/g, '');
  const bytes = Buffer.from(compact, 'base64');
  return bytes.toString('base64') === compact ? bytes : undefined;
}

const plainText = z
  .string()
  .meta({ form: 'a string', secret: true })
  .transform((text, context): SecretValue => {
    const place = parseSecretPlace(text);
    if ('value' in place) return new SecretValue(new TextEncoder().encode(text), place.value);
    context.addIssue({ code: 'custom', message: place.error });
    return z.NEVER;
  });

const schema = z.object({
  type: z.string().default('Opaque').describe('Kubernetes type of the secret'),
  data: z
    .record(key, base64)
    .meta({ form: 'a map from key to base64', secret: true })
    .default({})
    .describe('Key → value in base64'),
  stringData: z
    .record(key, plainText)
    .meta({ form: 'a map from key to string', secret: true })
    .default({})
    .describe(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: operators write these forms
      'Key → value as plain text. Wins over `data`. In a folder `${env:NAME}` and `${file:PATH}` stand for the value of a variable and of a file',
    ),
  immutable: z.boolean().exactOptional().describe('Kubernetes only. Without meaning here'),
});

/** Returns the value under `key`. `stringData` wins over `data`. */
export function secretValue(spec: SecretSpec, key: string): SecretValue | undefined {
  return Object.hasOwn(spec.stringData, key) ? spec.stringData[key] : spec.data[key];
}

/** Returns whether the value under `key` is in a variable or a file that was not looked at. */
export function isElsewhere(spec: SecretSpec, key: string): boolean {
  return secretValue(spec, key)?.place !== undefined;
}

/** Values that resources refer to by name. */
export const secret: KindDefinition<typeof schema> = {
  summary: 'Values that other resources refer to, with `apiVersion: v1` as in Kubernetes.',
  schema,
  fieldsAt: 'document',
  unknownField: 'warning',
};

export type SecretSpec = z.output<typeof schema>;
