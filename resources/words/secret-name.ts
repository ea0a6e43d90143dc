import type { Parsed } from './parsed-string.ts';

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Parses the name of a Secret by Kubernetes' rules for object names, a DNS subdomain. */
export function parseSecretName(text: string): Parsed<string> {
  if (text.length <= 253 && text.split('.').every(part => LABEL.test(part))) return { value: text };
  return {
    error: `${JSON.stringify(text.slice(0, 80))} is not the name of a Secret: lower-case letters, digits, "-" and "." only`,
  };
}
