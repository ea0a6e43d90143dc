// biome-ignore-all lint/style/useNodejsImportProtocol: Node 12 does not know "node:", and is to get a clear sentence.
'use strict';
// Plain JavaScript of 2019, since it runs under the machine's own Node before any dependency is
// there.
const { spawn } = require('child_process');
const fs = require('fs');
const path = require('path');
const { acquireLock, lockHolder } = require('../files/lock.cjs');

/** Installs all dependencies, also when NODE_ENV or the user's npmrc leaves some out. */
const NPM_CI = [
  'ci',
  '--include=dev',
  '--include=optional',
  '--no-audit',
  '--no-fund',
  '--no-progress',
];

/**
 * Installs the locked npm dependencies below `root` unless they are there already. `say` gets a
 * line for each step. When several run at once, one installs and the others wait. Rejects with an
 * Error of one sentence that says what to do.
 * @param {string} root
 * @param {(line: string) => void} say
 */
async function install(root, say) {
  if (isInstalled(root)) return;
  refuseUnsupported(process.platform, process.arch, hasGlibc);
  refuseWhileRunning(root);
  const lock = await waitForLock(path.join(root, '.gateway', 'install.lock'), say);
  try {
    // The npm of a start that was killed goes on in the same folder.
    await waitWhile(() => lockHolder(npmLock(root)), say);
    if (!isInstalled(root)) await npmCi(root, say);
  } finally {
    lock.release();
  }
}

/**
 * Tells whether npm's own record, which it writes last, has every package of the lock file in the
 * same version. Packages for other platforms may be absent.
 * @param {string} root
 */
function isInstalled(root) {
  const wanted = packages(path.join(root, 'package-lock.json'));
  const found = packages(path.join(root, 'node_modules', '.package-lock.json'));
  if (wanted === undefined)
    throw new Error(`No package-lock.json in ${root}: take a complete checkout`);
  if (found === undefined) return false;
  return Object.keys(wanted).every(name => {
    if (name === '') return true;
    const there = found[name];
    if (there === undefined) return wanted[name].optional === true && !isForHere(wanted[name]);
    return there.version === wanted[name].version && there.integrity === wanted[name].integrity;
  });
}

function packages(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).packages;
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw new Error(`Cannot read ${file}: ${error.message}`);
  }
}

/**
 * Tells whether npm installs an optional package here, by its `os`, `cpu` and `libc`. Supported
 * machines have glibc.
 */
function isForHere(entry) {
  const fits = (list, value) => list === undefined || [].concat(list).includes(value);
  return (
    fits(entry.os, process.platform) && fits(entry.cpu, process.arch) && fits(entry.libc, 'glibc')
  );
}

/**
 * Throws an Error of one sentence where neither Node nor Envoy would run.
 * @param {string} platform
 * @param {string} arch
 * @param {() => boolean} hasGlibc
 */
function refuseUnsupported(platform, arch, hasGlibc) {
  const machine = `${platform}-${arch}`;
  if (!['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'].includes(machine)) {
    throw new Error(
      `${machine} is not supported: use Linux or macOS on x64 or arm64, or compose.yaml`,
    );
  }
  if (platform === 'linux' && !hasGlibc()) {
    throw new Error(
      'This Linux has no glibc (Alpine?), which Node and Envoy need: use Debian, or compose.yaml',
    );
  }
}

function hasGlibc() {
  // Without this the report resolves the names of all connections, which may take seconds.
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime !== undefined;
}

function refuseWhileRunning(root) {
  const running = lockHolder(path.join(root, '.gateway', 'up.lock'));
  if (running === undefined) return;
  throw new Error(
    `The dependencies have changed, but a gateway runs from this checkout (pid ${running}): stop it, then start again`,
  );
}

function npmLock(root) {
  return path.join(root, '.gateway', 'npm.lock');
}

async function waitForLock(file, say) {
  let lock;
  const take = () => {
    lock = acquireLock(file);
    return lock.holder;
  };
  await waitWhile(take, say);
  return lock;
}

async function waitWhile(holderOf, say) {
  for (let told = false; ; told = true) {
    const holder = holderOf();
    if (holder === undefined) return;
    if (!told) say(`waiting for the installation that process ${holder} is making ...`);
    await new Promise(resolve => setTimeout(resolve, 200));
  }
}

async function npmCi(root, say) {
  const began = Date.now();
  const ended = run(npmCommand(), NPM_CI, root);
  say('installing the npm dependencies (npm ci), once ...');
  const { code, output } = await ended;
  if (code !== 0) {
    const log = path.join(root, '.gateway', 'npm-ci.log');
    fs.writeFileSync(log, output);
    throw new Error(
      `Cannot install the npm dependencies: ${reason(code, output)}. All that npm said: ${log}`,
    );
  }
  say(`installed the npm dependencies in ${((Date.now() - began) / 1000).toFixed(1)} s`);
}

/** Returns the npm that called us, else the one on the PATH. */
function npmCommand() {
  const own = process.env.npm_execpath || '';
  return path.basename(own) === 'npm-cli.js' ? [process.execPath, own] : ['npm'];
}

function run(command, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command[0], command.slice(1).concat(args), {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lock = child.pid === undefined ? {} : acquireLock(npmLock(cwd), child.pid);
    const stop = () => child.kill('SIGTERM');
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, stop);
    let output = '';
    const keep = chunk => {
      output += chunk;
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', error => {
      const missing =
        'npm is not on the PATH: install it (it comes with Node.js, https://nodejs.org)';
      reject(new Error(error.code === 'ENOENT' ? missing : `Cannot run npm: ${error.message}`));
    });
    child.on('close', code => {
      for (const signal of signals) process.removeListener(signal, stop);
      if (lock.release) lock.release();
      resolve({ code, output });
    });
  });
}

function reason(code, output) {
  if (code === null) return 'npm ci was interrupted';
  const [, word] = /npm (?:error|ERR!) code (\S+)/.exec(output) || [];
  if (
    /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|ENETUNREACH|ERR_SOCKET_TIMEOUT)$/.test(
      word || '',
    )
  ) {
    return `no network to the npm registry (${word}), which the first start needs`;
  }
  return `npm ci ended with ${word || `exit code ${code}`}`;
}

module.exports = { install, isInstalled, refuseUnsupported };
