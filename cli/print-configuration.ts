import { toEnvoyYaml } from '#envoy/envoy-yaml.ts';

/** Prints a configuration as YAML for Envoy, or as JSON. */
export function printConfiguration(value: object, json: boolean | undefined): void {
  process.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : toEnvoyYaml(value));
}
