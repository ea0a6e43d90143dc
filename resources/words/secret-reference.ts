import * as z from 'zod';
import { checkedString } from './parsed-string.ts';
import { parseSecretName } from './secret-name.ts';

/**
 * A Secret that a resource refers to. Without `namespace` it is in the namespace of that resource.
 */
export type SecretReference = { readonly name: string; readonly namespace?: string };

const secretName = checkedString('the name of a Secret', parseSecretName);

const reference = z.object({
  name: secretName.describe('Name of the Secret'),
  namespace: z
    .string()
    .min(1)
    .exactOptional()
    .describe('Its namespace. Default: that of this resource'),
});

/** Its name alone, or with its namespace. */
export const secretReference = z
  .union([secretName.transform((name): SecretReference => ({ name })), reference])
  .meta({ form: 'the name of a Secret, or `{ name, namespace }`' });

/**
 * Parses a Secret as a TLSContext names it. With `namespacing` the part after the last dot is the
 * namespace, as in `certificate.shop`. See Ambassador's page of TLSContext, `secret_namespacing`.
 */
export function splitSecretName(text: string, namespacing: boolean): SecretReference {
  const dot = namespacing ? text.lastIndexOf('.') : -1;
  return dot === -1 ? { name: text } : { name: text.slice(0, dot), namespace: text.slice(dot + 1) };
}
