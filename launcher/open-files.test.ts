import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fewOpenFiles } from './open-files.ts';

const limits = (
  soft: string,
  hard: string,
) => `Limit                     Soft Limit           Hard Limit           Units     
Max processes             94229                94229                processes 
Max open files            ${soft.padEnd(20)} ${hard.padEnd(20)} files     
Max locked memory         8388608              8388608              bytes     
`;

test('too few open files are told, by the hard limit, which Node.js takes', () => {
  assert.match(fewOpenFiles(limits('100', '100')) ?? '', /^warning: a process may open 100 files/);
  assert.match(fewOpenFiles(limits('256', '1024')) ?? '', /may open 1024 files/);
});

test('nothing is told of enough, of no limit, or where it is not known', () => {
  for (const known of [limits('1024', '4096'), limits('1024', 'unlimited'), ''])
    assert.equal(fewOpenFiles(known), undefined);
});
