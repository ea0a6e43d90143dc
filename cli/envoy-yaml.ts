import { stringify } from 'yaml';

/** YAML 1.1 is what Envoy reads: there an unquoted `y` or `off` is a boolean, so such strings are quoted. */
export function envoyYaml(value: object): string {
  return stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}

/** Prints YAML for Envoy, or the same as JSON. */
export function printConfiguration(value: object, json: boolean | undefined): void {
  process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : envoyYaml(value));
}
