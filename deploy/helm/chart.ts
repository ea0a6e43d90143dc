import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { templates } from './templates.ts';
import { type Value, valuesSchema, valuesYaml } from './values.ts';
import { valuesTable } from './values-page.ts';

/** A Helm chart: its values, and the text of each of its files. */
export type Chart = {
  readonly name: string;
  readonly version: string;
  readonly values: readonly Value[];
  /** By path in the chart's folder. */
  readonly files: ReadonlyMap<string, string>;
};

/** The oldest Kubernetes whose admission policies and sidecars the manifests use. */
const KUBERNETES = '>=1.30.0-0';

/**
 * Makes the chart of the manifests in deploy/kubernetes. `image` is where a cluster finds our
 * image. By default it is the name that the manifests have.
 */
export function makeChart(version: string = manifest.version, image?: string): Chart {
  const values = new Map<string, Value>();
  const made = templates(given => {
    const isImage = image !== undefined && given.name === 'image.repository';
    const value = isImage ? { ...given, default: image } : given;
    const known = values.get(value.name) ?? value;
    if (!isDeepStrictEqual(known, value)) throw new Error(`${value.name} is two values`);
    values.set(value.name, known);
    return `$.Values.${value.name}`;
  });
  const { name, description, license } = manifest;
  const all = [...values.values()];
  const about = {
    apiVersion: 'v2',
    type: 'application',
    ...{ name, version, appVersion: version, description },
    kubeVersion: KUBERNETES,
    annotations: { 'artifacthub.io/license': license },
  };
  const files = new Map([
    ['Chart.yaml', stringify(about)],
    ['LICENSE', readFileSync(join(import.meta.dirname, '..', '..', 'LICENSE'), 'utf8')],
    ['README.md', `${readText('chart-readme.md')}\n${valuesTable(all)}`],
    ['templates/NOTES.txt', readText('NOTES.txt')],
    ['values.schema.json', `${JSON.stringify(valuesSchema(all), null, 2)}\n`],
    ['values.yaml', valuesYaml(all)],
    ...made,
  ]);
  return { name, version, values: all, files };
}

function readText(file: string): string {
  return readFileSync(join(import.meta.dirname, file), 'utf8');
}
