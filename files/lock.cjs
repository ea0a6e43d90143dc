// biome-ignore-all lint/style/useNodejsImportProtocol: Node 12 does not know "node:", and is to get a clear sentence.
'use strict';
// Plain JavaScript of 2019, since start.cjs needs it under the machine's own Node.
const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');

/**
 * Takes the lock `file` for the process `pid`, by default this one. Returns `{ release }`, or
 * `{ holder }` with the id of the living process that has it. A stale lock is taken over: its
 * process is gone, or another process has its id since.
 * @param {string} file
 * @param {number} [pid]
 */
function acquireLock(file, pid = process.pid) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const own = `${pid} ${startTime(pid)}\n`;
  for (;;) {
    if (create(file, own)) return { release: () => remove(file, own) };
    const held = read(file);
    const holder = held === undefined ? undefined : livingHolder(held);
    if (holder !== undefined) return { holder };
    if (held !== undefined) moveAside(file, held);
  }
}

/**
 * Returns the id of the living process that has the lock `file`, or undefined.
 * @param {string} file
 */
function lockHolder(file) {
  const held = read(file);
  return held === undefined ? undefined : livingHolder(held);
}

/** Creates the file with its content in one step, so that nobody ever reads an empty lock. */
function create(file, content) {
  const draft = `${file}.${process.pid}`;
  fs.writeFileSync(draft, content);
  try {
    fs.linkSync(draft, file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  } finally {
    fs.unlinkSync(draft);
  }
}

function livingHolder(content) {
  const [pid, started] = content.trim().split(/ (.*)/);
  return started !== undefined && startTime(Number(pid)) === started ? Number(pid) : undefined;
}

/**
 * When several processes find the same stale lock, one wins the rename. A lock that was fresh after
 * all is put back.
 */
function moveAside(file, stale) {
  const aside = `${file}.${process.pid}`;
  try {
    fs.renameSync(file, aside);
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  if (read(aside) !== stale) fs.linkSync(aside, file);
  fs.unlinkSync(aside);
}

function remove(file, own) {
  if (read(file) === own) fs.unlinkSync(file);
}

function read(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Returns when the process began, in the system's own words. They tell it from a later process of
 * the same id. Undefined when the process is gone.
 */
function startTime(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return fs.existsSync('/proc/self/stat') ? undefined : startTimeByPs(pid);
  }
}

function startTimeByPs(pid) {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .toString()
      .trim();
  } catch {
    return undefined;
  }
}

module.exports = { acquireLock, lockHolder };
