import { toEnvoyYaml } from '#envoy/envoy-yaml.ts';

/** Prints YAML for Envoy, or the same as JSON. */
export function printConfiguration(value: object, json: boolean | undefined): void {
  process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : toEnvoyYaml(value));
}
