#!/usr/bin/env node
// biome-ignore-all lint/style/useNodejsImportProtocol: Node 12 does not know "node:", and is to get a clear sentence.
'use strict';
// The command of the published package. It is plain JavaScript of 2019, because an old Node is to
// get a sentence. The package needs no other Node and installs none.
const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');

/** The oldest Node that all packages of ours support. It has `node:sqlite` without a flag. */
const OLDEST = [22, 19];

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(
    `gateway: Node.js ${process.versions.node} is too old: install Node.js ${OLDEST.join('.')} or later (https://nodejs.org)\n`,
  );
  process.exit(1);
}

const root = path.join(__dirname, '..');
// Keeps the code that Node compiles beside the package, for our other processes too. Each of them
// then starts in about half of the time.
if (process.env.NODE_COMPILE_CACHE === undefined)
  process.env.NODE_COMPILE_CACHE = path.join(root, '..', '.cache', 'tollwright');
require('module').enableCompileCache(process.env.NODE_COMPILE_CACHE);

// An npx that is killed outright sends no signal. Its child, or the shell between, only sees that
// its parent has changed.
if (process.env.npm_lifecycle_event !== undefined) {
  const parents = parentsNow();
  setInterval(() => {
    if (parentsNow() === parents) return;
    if (!process.emit('disconnect')) process.kill(process.pid, 'SIGTERM');
  }, 250).unref();
}

/** Returns the ids of our parent and, where the system tells, of its parent. */
function parentsNow() {
  try {
    const stat = fs.readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
    return `${process.ppid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]}`;
  } catch {
    return String(process.ppid);
  }
}

import(pathToFileURL(path.join(root, 'cli', 'main.js')).href);
