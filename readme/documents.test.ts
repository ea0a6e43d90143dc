import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { compile } from '#controlplane/compile/compile.ts';
import { nodeGroups } from '#controlplane/compile/node-groups.ts';
import { parseFile } from '#resources/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { readConfig as controlplane } from '../controlplane/config.ts';
import { readConfig as extAuthz } from '../ext-authz/config.ts';
import { readConfig as identityProvider } from '../identity-provider/config.ts';
import manifest from '../package.json' with { type: 'json' };
import { readConfig as rateLimit } from '../ratelimit-service/config.ts';
import { readConfig as sds } from '../sds/config.ts';
import { readConfig as userService } from '../user-service/config.ts';
import { codeBlocks, commands, readDocument } from './code-blocks.ts';

const ROOT = join(import.meta.dirname, '..');
const README = readDocument('README.md');
const DOCUMENTS = readdirSync(ROOT).filter(name => name.endsWith('.md'));

type Environment = Readonly<Record<string, string | undefined>>;
const CONFIGS = {
  controlplane,
  sds,
  'ratelimit-service': rateLimit,
  'ext-authz': extAuthz,
  'user-service': userService,
  'identity-provider': identityProvider,
} as const;

describe('README.md', () => {
  test('shows resources without a problem', () => {
    for (const [at, block] of codeBlocks(README, 'yaml').entries()) {
      const { problems, resources } = parseFile(`block ${at}`, block, DEFAULT_PARSE_OPTIONS);
      const set = toResourceSet(resources, []);
      const address = { host: '127.0.0.1', port: 8080 };
      const between = nodeGroups(set).flatMap(
        group =>
          compile(set, group, { edge: address, sds: address, rateLimit: address, extAuthz: address })
            .problems,
      );
      assert.deepEqual([...problems, ...between], []);
      assert.ok(resources.length > 0);
    }
  });

  test('names scripts that npm has', () => {
    const scripts = commands(README).flatMap(line => /^npm (\w+)/.exec(line)?.slice(1) ?? []);
    assert.deepEqual(scripts, ['start', 'test']);
    for (const script of scripts) assert.ok(Object.hasOwn(manifest.scripts, script), script);
  });

  for (const [folder, readConfig] of Object.entries(CONFIGS)) {
    test(`names the environment that ${folder} reads`, () => {
      const row = rowOf(folder);
      const documented = namesIn(row).concat(row.includes('`REDIS_…`') ? namesOfRedis() : []);
      assert.deepEqual(documented.sort(), variablesRead(readConfig));
    });
  }
});

function rowOf(folder: string): string {
  return README.split('\n').find(line => line.startsWith(`| \`node ${folder}/main.ts\` |`)) ?? '';
}

function namesIn(row: string): readonly string[] {
  return [...row.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name);
}

/** `the same REDIS_… variables` are those of another row. */
function namesOfRedis(): readonly string[] {
  return namesIn(rowOf('ratelimit-service')).filter(name => name.startsWith('REDIS_'));
}

/** The variables that a process asks its environment for. */
function variablesRead(readConfig: (env: Environment) => unknown): readonly string[] {
  const names = new Set<string>();
  const required: Environment = {
    INSTANCES_FILE: '/instances.yaml',
    REDIS_URL: 'rediss-sentinel://sentinel/master',
  };
  const env = new Proxy(required, {
    get: (target, name) => {
      names.add(String(name));
      return target[String(name)];
    },
  });
  readConfig(env);
  return [...names].sort();
}

for (const name of DOCUMENTS) {
  test(`${name} links to what is there`, () => {
    for (const [, target = ''] of readDocument(name).matchAll(/\]\(([^)#]+)\)/g)) {
      if (!target.startsWith('https://')) assert.ok(existsSync(join(ROOT, target)), target);
    }
  });

  test(`${name} names files and folders that are there`, () => {
    const paths = readDocument(name).matchAll(/`(?:npx node |npm test -- )?([\w-]+\/[\w./-]*)`/g);
    for (const [, path = ''] of paths) {
      const [folder = ''] = path.split('/');
      const found = ['', '.ts'].some(end => existsSync(join(ROOT, `${path}${end}`)));
      if (existsSync(join(ROOT, folder))) assert.ok(found, path);
    }
  });
}
