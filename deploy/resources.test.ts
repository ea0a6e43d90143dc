import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { collect } from '#resources/parse/collect.ts';
import { createParser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { INSTANCES, mounted, probe, ROOT, variable } from './testing/compose-file.ts';

const DEMO = join(ROOT, 'envoy/resources');
const FOLDER = mounted(variable('controlplane', 'RESOURCES'));

const FILES = new Map(
  readdirSync(FOLDER)
    .sort()
    .map(file => [file, { text: readFileSync(join(FOLDER, file), 'utf8') }]),
);

const { resources, problems } = collect(createParser(DEFAULT_PARSE_OPTIONS)(FILES));

test('the resources of the containers have no problem', () => {
  assert.deepEqual(problems, []);
});

const SET = toResourceSet(resources.values(), []);
const PROXY_CONFIGS = new Map(SET.proxyConfigs.map(({ spec }) => [spec.node_group, spec]));

test('the proxy beside an instance listens where sds and its probe look, and leads to the instance alone', () => {
  const { listener, clusters } = PROXY_CONFIGS.get('user-service') ?? {};
  assert.deepEqual(listener, { address: '0.0.0.0', port: 8000 });
  for (const instance of INSTANCES) {
    const port = Number(variable(instance, 'PORT'));
    assert.deepEqual(
      clusters?.map(({ hosts }) => hosts),
      [[{ host: variable(instance, 'HOST'), port }]],
    );
    assert.match(probe(`${instance}-proxy`).join(' '), /127\.0\.0\.1\/8000$/);
  }
});

test('the edge finds the instances in the discovery service, and listens where EDGE_ADDRESS says', () => {
  const { service, resolver } = SET.mappings.find(({ id }) => /user-service/.test(id))?.spec ?? {};
  assert.deepEqual([service?.host, resolver], ['user-service', 'sds']);
  assert.equal(PROXY_CONFIGS.get('edge'), undefined);
});

test('what the README says of both holds for both: the limits and the https of `npm start`', () => {
  const specs = (folder: string, file: string) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map(
      document => document.toJS().spec,
    );
  for (const file of ['rate-limits.yaml', 'https.yaml'])
    assert.deepEqual(specs(FOLDER, file), specs(DEMO, file), file);
  const labels = (folder: string, file: string) => specs(folder, file)[0].labels;
  assert.deepEqual(labels(FOLDER, 'edge.yaml'), labels(DEMO, 'user-service.yaml'));
});
