import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { collect } from '#resources/collect.ts';
import { createParser } from '#resources/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { composeService, INSTANCES, mounted, variable } from './testing/compose-file.ts';

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

const PROXY_CONFIGS = new Map(
  toResourceSet(resources.values(), []).proxyConfigs.map(({ spec }) => [spec.node_group, spec]),
);

test('the proxy beside an instance listens where sds and its probe look, and leads to the instance alone', () => {
  const { listener, clusters } = PROXY_CONFIGS.get('user-service') ?? {};
  assert.deepEqual(listener, { address: '0.0.0.0', port: 8000 });
  for (const instance of INSTANCES) {
    const port = Number(variable(instance, 'PORT'));
    assert.deepEqual(
      clusters?.map(({ hosts }) => hosts),
      [[{ host: variable(instance, 'HOST'), port }]],
    );
    assert.match(
      composeService(`${instance}-proxy`).healthcheck?.test.join(' ') ?? '',
      /127\.0\.0\.1\/8000$/,
    );
  }
});

test('the edge finds the instances in the discovery service', () => {
  const { listener, clusters } = PROXY_CONFIGS.get('edge') ?? {};
  assert.equal(listener, undefined, 'EDGE_ADDRESS decides');
  assert.deepEqual(
    clusters?.map(({ name, type }) => ({ name, type })),
    [{ name: 'user-service', type: 'sds' }],
  );
});
