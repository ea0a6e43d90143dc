import { stringify } from 'yaml';

/**
 * Writes YAML that Envoy reads, which is YAML 1.1. There an unquoted `y` or `off` is a boolean, so
 * such strings are quoted.
 */
export function toEnvoyYaml(value: object): string {
  return stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
