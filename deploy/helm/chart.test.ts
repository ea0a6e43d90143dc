import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { makeChart } from './chart.ts';
import { around, expression, fillHoles, hole, inside } from './holes.ts';
import { readManifest } from './kustomization.ts';
import { tar } from './tar.ts';
import { defaultsOf } from './values.ts';

const CHART = makeChart();
const textOf = (path: string) => CHART.files.get(path) ?? assert.fail(`the chart has no ${path}`);
const validate = new Ajv().compile(JSON.parse(textOf('values.schema.json')));
/** Judges values as Helm does, which puts them over the defaults and takes out what is `null`. */
const isValid = (values: object) => validate(over(defaultsOf(CHART.values), values));

describe('the values of the chart', () => {
  test('are in values.yaml with defaults that the schema accepts', () => {
    const values = parse(textOf('values.yaml'));
    assert.deepEqual(values, defaultsOf(CHART.values));
    assert.ok(isValid(values), JSON.stringify(validate.errors));
  });

  for (const [what, values] of Object.entries({
    'a misspelt name': { edge: { replica: 2 } },
    'a type of Service that there is not': { edge: { service: { type: 'Loadbalancer' } } },
    'a port beyond the last': { edge: { service: { httpsPort: 65_536 } } },
    'half a pod': { sds: { replicas: 0.5 } },
    'a digest without its algorithm': { image: { digest: 'f'.repeat(64) } },
    'a variable that the chart sets itself': { extAuthz: { env: { REDIS_URL: 'redis://other' } } },
    'a variable that it sets with Gateway API': { controlplane: { env: { GATEWAY_EDGES: 'own' } } },
    'a number as the value of a variable': { sds: { env: { DNS_MAX_TTL_SECONDS: 5 } } },
    'a namespace that cannot be one': { resources: { namespace: 'Ours' } },
    'a Redis by the scheme of another': { sessions: { redisUrl: 'http://redis:6379' } },
    'memory that adds a line to the script': { valkey: { maxMemory: '1mb\nsave 1 1' } },
    'memory without a bound': { valkey: { maxMemory: '0mb' } },
    'a size in a unit that Kubernetes does not know': { controlplane: { stateSize: '512ki' } },
  }))
    test(`have a schema that rejects ${what}`, () => assert.ok(!isValid(values)));

  for (const [what, values] of Object.entries({
    'a group': { edge: null },
    'a group in another': { edge: { service: null } },
    'a text': { resources: { namespace: null } },
    'a number': { edge: { workers: null } },
    'a choice': { gatewayApi: { edges: null } },
    'the way to the DNS': { networkPolicies: { dns: null } },
  }))
    test(`have a schema that rejects ${what} without a value`, () => assert.ok(!isValid(values)));

  test('have a schema that accepts a number of pods, a switch and a list without a value', () => {
    const values = { edge: { replicas: null, env: null }, fixedUsers: null, tolerations: null };
    assert.ok(isValid({ ...values, identities: null }), JSON.stringify(validate.errors));
  });

  test('have a schema that accepts those of a chart above it', () => {
    assert.ok(isValid({ global: { region: 'eu' } }));
  });

  test('have a schema that accepts each unit of Kubernetes', () => {
    for (const stateSize of ['1', '1.5G', '512k', '512Ki', '512Mi'])
      assert.ok(isValid({ controlplane: { stateSize } }), stateSize);
  });

  test('are all in the table of its README.md', () => {
    const table = textOf('README.md');
    for (const { name, description } of CHART.values)
      assert.ok(table.includes(`| \`${name}\` | `) && table.includes(`| ${description} |`), name);
  });
});

test('what the edge needs of its image and its memory stands beside these values', () => {
  const about = (name: string) =>
    CHART.values.find(value => value.name === name)?.description ?? assert.fail(name);
  assert.match(about('envoyImage.repository'), /distroless/);
  assert.match(about('edge.resources'), /2 GiB/);
  const bootstrap = readManifest('system/edge.bootstrap.yaml');
  assert.equal(
    parse(bootstrap).overload_manager.resource_monitors[0].typed_config.max_heap_size_bytes,
    2 * 2 ** 30,
  );
  assert.match(readManifest('system/edge.yaml'), /exec: \{ command: \[bash,/);
});

test('the chart has the version of the package, and so has our image', () => {
  const { version, appVersion, apiVersion } = parse(textOf('Chart.yaml'));
  assert.deepEqual(
    { version, appVersion, apiVersion },
    { version: manifest.version, appVersion: manifest.version, apiVersion: 'v2' },
  );
});

test('the definitions stay when a release is uninstalled, and nothing else that it knows', () => {
  const kept = [...CHART.files].filter(([, text]) => text.includes('helm.sh/resource-policy'));
  assert.deepEqual(
    kept.map(([path]) => path),
    ['files/crds.yaml', 'templates/system/namespaces.yaml'],
  );
  const definitions = textOf('files/crds.yaml').split(/^---$/m).slice(1);
  assert.ok(definitions.length > 5);
  for (const each of definitions)
    assert.equal(parse(each).metadata.annotations['helm.sh/resource-policy'], 'keep');
});

describe('a document with holes', () => {
  test('gets the texts of the templates, beside braces of its own', () => {
    assert.equal(
      fillHoles(`a: ${expression('.a').value}\nb: "${hole('{{ .b }}')} {{ $c }}"\n`),
      'a: {{ .a }}\nb: "{{ .b }} {{ "{{" }} $c }}"\n',
    );
  });

  test('gets a statement around the line that has one', () => {
    const { comment, value } = inside('with .b', expression('.'));
    assert.equal(
      fillHoles(`a:\n  b: ${value} #${comment}\n`),
      'a:\n  {{- with .b }}\n  b: {{ . }}\n  {{- end }}\n',
    );
  });

  test('gets a statement around all of its lines', () => {
    assert.equal(around('if .a', 'b: 1\n'), '{{- if .a }}\nb: 1\n{{- end }}');
  });
});

function over(defaults: unknown, values: unknown): unknown {
  if (!isObject(defaults) || !isObject(values)) return values;
  const all = Object.entries(values).map(([key, value]) => [key, over(defaults[key], value)]);
  const merged = Object.entries({ ...defaults, ...Object.fromEntries(all) });
  return Object.fromEntries(merged.filter(([, value]) => value !== null));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

test('an archive takes no path that its header would cut', () => {
  assert.throws(() => tar([['a'.repeat(101), '']]), /too long/);
});
