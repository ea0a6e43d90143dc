import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { shellQuote } from '#files/shell-quote.ts';
import { hasYaml } from './has-yaml.ts';
import { makeFolder } from './make-folder.ts';

/** What a newcomer reads first. */
const FIRST_RESOURCES = `# What the gateway serves. Save a change, and it is in force a moment later. A mistake changes
# nothing, and \`npx tollwright status\` shows it.
#
# A Mapping sends requests to a service. This one sends every request to a program of yours that
# listens at port 3000 of this machine. Try it: start one, then
#
#   npx tollwright up
#   curl http://127.0.0.1:8080/
apiVersion: gateway.internal/v2
kind: Mapping
metadata:
  name: my-app
spec:
  # The paths that begin so, on every host. \`host\` names one.
  prefix: /
  # host:port. The host may be a name in DNS, and https://host:port is asked by TLS.
  service: 127.0.0.1:3000
  # The limit below counts requests by these labels.
  labels:
    gateway:
      - per_client: [remote_address]
---
# Each client may send so many requests. More get 429.
apiVersion: gateway.internal/v2
kind: RateLimit
metadata:
  name: per-client
spec:
  domain: gateway
  limits:
    - pattern: [{ remote_address: "*" }]
      rate: 100
      unit: second
`;

const IGNORED = '.gateway/';

const EXAMPLES = `
Examples:
  gateway init
  gateway init my-site
`;

/** Returns `gateway init`. It writes what a folder with resources of one's own begins with. */
export function initCommand(): Command {
  return new Command('init')
    .description('write a first resource file and a .gitignore, and keep what is there')
    .argument('[folder]', 'where to write resources/gateway.yaml', '.')
    .addHelpText('after', EXAMPLES)
    .action((folder: string) => {
      const resources = join(folder, 'resources');
      makeFolder(resources);
      if (hasYaml(resources)) say(`${resources} has resources already, which are kept`);
      else writeNew(join(resources, 'gateway.yaml'));
      ignoreState(join(folder, '.gitignore'));
      say(`Next: ${folder === '.' ? '' : `cd ${shellQuote(folder)} && `}${npx()} tollwright up`);
    });
}

/**
 * Returns `npx` as it was called. npm tells the packages of `-p` in a variable. Without it npx
 * would fetch a package that was run from a file by its name.
 */
function npx(): string {
  const packages = (process.env.npm_config_package ?? '').split('\n').filter(name => name !== '');
  const flags = packages.map(name => ` -p ${existsSync(name) ? shellQuote(resolve(name)) : name}`);
  return `npx${flags.join('')}`;
}

function writeNew(path: string): void {
  writeFileSync(path, FIRST_RESOURCES, { flag: 'wx' });
  say(`wrote ${path}`);
}

/** State holds keys and sessions, which belong into no repository. */
function ignoreState(path: string): void {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (text.split(/\r?\n/).some(line => /^\/?\.gateway\/?$/.test(line.trim()))) return;
  appendFileSync(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${IGNORED}\n`);
  say(`wrote ${path}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
